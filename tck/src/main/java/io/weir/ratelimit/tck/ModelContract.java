// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@linkplain RandomScenarios Random scenarios} that compare a backend with a {@link ReferenceModel} after each step. */
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

    @ParameterizedTest
    @EnumSource(CalendarPeriod.Unit.class)
    default void agreesWithTheReferenceModelForCalendarLimits(CalendarPeriod.Unit unit) {
        runScenarios("[" + unit + "]", random -> random.calendarPolicy(unit));
    }

    private void runScenarios(List<Algorithm> algorithms) {
        runScenarios(algorithms.toString(), random -> random.policy(algorithms));
    }

    private void runScenarios(String name, Function<RandomLimits, List<Limit>> policy) {
        RandomScenarios.run(
                "reference model of " + name,
                60,
                time(),
                (title, seed) -> new ModelScenario(key(), time(), policy, title + " of " + name, seed).run(STEPS));
    }
}
