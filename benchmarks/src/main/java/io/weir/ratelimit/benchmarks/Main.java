// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.report.Report;
import java.util.Arrays;

/** The main class of the jar: {@code report} measures the figures of the documents, and everything else is for JMH. */
public final class Main {
    private Main() {}

    /**
     * Runs the report or JMH.
     *
     * @param arguments {@code report} and its arguments, or those of JMH
     * @throws Exception if JMH or the report fails
     */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("report")) {
            System.exit(Report.run(Arrays.asList(arguments).subList(1, arguments.length)));
        }
        org.openjdk.jmh.Main.main(arguments);
    }
}
