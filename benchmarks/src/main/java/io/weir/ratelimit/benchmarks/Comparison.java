// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.Options;
import io.weir.ratelimit.benchmarks.comparison.Program;

/**
 * Weir's Redis store beside other limiters on the same Redis, and beside the least that a script call per decision costs. Prints
 * tables for {@code docs/reference/performance.md}, which describes the method.
 */
public final class Comparison {
    private Comparison() {}

    /**
     * Runs the comparison. Ends with status 1 if Redis does not hold what was admitted, with 2 if the arguments are wrong.
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
