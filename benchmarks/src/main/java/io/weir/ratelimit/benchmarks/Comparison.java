// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.Options;
import io.weir.ratelimit.benchmarks.comparison.Program;

/**
 * A program that compares the Redis backend with other limiters on the same Redis, and with the minimal cost of a script call per
 * decision. It prints the tables of {@code docs/reference/performance.md}, which describes the method.
 */
public final class Comparison {
    private Comparison() {}

    /**
     * Runs the comparison. The exit status is 1 if the permits in Redis differ from the allowed decisions, and 2 for invalid arguments.
     *
     * @param arguments see {@link Options#USAGE}
     */
    public static void main(String... arguments) {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + Options.USAGE);
            System.exit(2);
            return;
        }
        System.exit(new Program(options).run(System.out) ? 0 : 1);
    }
}
