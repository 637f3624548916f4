// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random scenarios that compare a backend with a {@link ReferenceModel} after each step. By default, the seed is constant, so that
 * the result is reproducible. {@code weir.test.full=true} runs many more scenarios with a new seed. {@code weir.test.seed=<number>}
 * repeats a run; the seed is printed, and it is part of each failure message.
 */
interface ModelContract extends ContractFixture {
    int STEPS = 60;

    @EachAlgorithm
    default void agreesWithTheReferenceModel(Algorithm algorithm) {
        runScenarios(List.of(algorithm));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SLIDING_WINDOW TOKEN_BUCKET",
                "FIXED_WINDOW LEAKY_BUCKET",
                "SLIDING_LOG SLIDING_WINDOW",
                "FIXED_WINDOW SLIDING_WINDOW SLIDING_LOG TOKEN_BUCKET LEAKY_BUCKET"
            })
    default void agreesWithTheReferenceModelForMixedAlgorithms(String algorithms) {
        runScenarios(
                Arrays.stream(algorithms.split(" ")).map(Algorithm::valueOf).toList());
    }

    private void runScenarios(List<Algorithm> algorithms) {
        boolean full = Boolean.getBoolean("weir.test.full");
        long seed = Long.getLong(
                "weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
        System.out.printf("reference model of %s: -Dweir.test.seed=%d%n", algorithms, seed);
        long start = time().micros();
        for (int number = 0; number < (full ? 3_000 : 60); number++) {
            // Every scenario starts at the same instant: the sum of their times exceeds the range of 285 years.
            time().advanceMicros(start - time().micros());
            new ModelScenario(key(), time(), algorithms, seed, number).run(STEPS);
        }
    }
}
