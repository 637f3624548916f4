// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Random scenarios of one test within a budget of time, from a printed seed. Scenario {@code n} of a seed is always the same. A slow
 * backend or machine runs fewer scenarios, but not less than {@value #AT_LEAST}.
 *
 * <p>By default, the seed is constant. {@code weir.test.full=true} runs many more scenarios with a new seed. {@code
 * weir.test.seed=<number>} repeats a run.
 */
final class RandomScenarios {
    private static final int AT_LEAST = 10;
    private static final boolean FULL = Boolean.getBoolean("weir.test.full");
    private static final Duration BUDGET = FULL ? Duration.ofSeconds(30) : Duration.ofSeconds(1);

    private RandomScenarios() {}

    /** One scenario. */
    interface Scenario {
        /**
         * Runs the scenario.
         *
         * @param title the seed and the number, for failure messages
         * @param seed the seed of the scenario's random numbers
         */
        void run(String title, long seed);
    }

    /**
     * Runs scenarios, each from the same instant.
     *
     * @param name the printed name
     * @param most the maximum number of scenarios; a full run has 50 times as many
     */
    static void run(String name, int most, ManualTime time, Scenario scenario) {
        long seed = Long.getLong(
                "weir.test.seed", FULL ? ThreadLocalRandom.current().nextLong() : 1);
        System.out.printf("%s: -Dweir.test.seed=%d%n", name, seed);
        long first = time.micros();
        long start = System.nanoTime();
        for (int number = 0; number < (FULL ? 50 * most : most); number++) {
            if (number >= AT_LEAST && System.nanoTime() - start > BUDGET.toNanos()) {
                return;
            }
            // The sum of the times of all scenarios exceeds the range of 285 years.
            time.advanceMicros(first - time.micros());
            scenario.run("-Dweir.test.seed=" + seed + ", scenario " + number, seed * 31 + number);
        }
    }
}
