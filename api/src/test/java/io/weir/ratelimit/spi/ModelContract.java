// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random calls, compared with {@link ReferenceModel} step by step. The build takes always the same walks, so that it says
 * the same of the same code; {@code -Pfull} takes many more, and new ones each time. {@code -Dweir.test.seed=<number>}
 * repeats a run; the number is printed with each run and shown with each failure.
 */
interface ModelContract extends ContractFixture {
    int STEPS = 60;

    @EachAlgorithm
    default void agreesWithTheReferenceModelStepByStep(Algorithm algorithm) {
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
    default void agreesWithTheReferenceModelWherePoliciesMixAlgorithms(String algorithms) {
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
            // Each on keys of its own, and from the same instant: together they would walk further than the 285 years
            // there are.
            time().advanceMicros(start - time().micros());
            new ModelScenario(key(), time(), algorithms, seed, number).run(STEPS);
        }
    }
}
