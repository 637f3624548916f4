// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How much longer a decision on Redis takes than a script that does nothing, through one client, one call after another. Short
 * rounds of both alternate in one process, so that whatever else the machine does meets both alike.
 */
public final class RedisRatio {
    private static final int WARM_UP = 20;
    private static final int ROUNDS = 101;
    private static final int CALLS = 500;

    private RedisRatio() {}

    /**
     * Prints the median ratio for each algorithm, with one limit and with three.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        System.out.printf("median of %d pairs of rounds, %d calls each, 1 thread, 10,000 keys%n", ROUNDS, CALLS);
        for (Algorithm algorithm : List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET)) {
            for (int limits : new int[] {1, 3}) {
                try (RedisContenders contenders = new RedisContenders(algorithm, limits)) {
                    print(algorithm, limits, contenders);
                }
            }
        }
    }

    private static void print(Algorithm algorithm, int limits, RedisContenders contenders) {
        double[] floors = new double[ROUNDS];
        double[] decisions = new double[ROUNDS];
        double[] ratios = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            boolean floorFirst = round % 2 == 0;
            double before = floorFirst ? 0 : micros(contenders::decision);
            double floor = micros(contenders::floor);
            double decision = floorFirst ? micros(contenders::decision) : before;
            if (round >= 0) {
                floors[round] = floor;
                decisions[round] = decision;
                ratios[round] = decision / floor;
            }
        }
        Arrays.sort(ratios);
        System.out.printf(
                Locale.ROOT,
                "%s, %d limit(s): %.2f x the floor (half of the pairs: %.2f to %.2f); decision %.1f µs, floor %.1f µs%n",
                algorithm.configName(),
                limits,
                ratios[ROUNDS / 2],
                ratios[ROUNDS / 4],
                ratios[3 * ROUNDS / 4],
                median(decisions),
                median(floors));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private interface Call {
        Object run();
    }

    private static double micros(Call call) {
        long start = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            if (call.run() == null) {
                throw new IllegalStateException("no answer");
            }
        }
        return (System.nanoTime() - start) / 1e3 / CALLS;
    }
}
