// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The repeated report of an instance, and the history that it adds to. */
class FleetReportsTest {
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final SimulatedFleet fleet = new SimulatedFleet(2);
    private final SimulatedFleet.Member first = fleet.member(0);
    private final SimulatedFleet.Member second = fleet.member(1);

    private long total(Optional<String> policy) {
        return first.console.history().of(policy).counts().stream()
                .mapToLong(StepCounts.Counts::decided)
                .sum();
    }

    private void fail(Reason reason) {
        fleet.store.failure = Optional.of(new BackendException(reason, "Redis answered NOPERM", null));
    }

    /** Ends the current step, which the history does not show. */
    private void endStep() {
        fleet.pass(FleetStore.STEP);
    }

    @Test
    void skipsAReportWhileTheLastOneIsUnderWay() {
        fleet.store.silent = true;
        first.report();
        fleet.pass(INTERVAL);
        first.report();
        first.report();
        assertThat(fleet.store.writes).hasSize(1);
    }

    @Test
    void theHistoryHasEachDecisionOnce() {
        first.report();
        second.report();
        long decided = 0;
        for (int i = 0; i < 40; i++) {
            first.decide("hello", 3, 1);
            second.decide("plan", 2, 0);
            decided += 6;
            fleet.pass(Duration.ofMillis(1_700));
            if (i % 3 == 0) {
                first.report();
                second.report();
            }
        }
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        endStep();
        assertThat(total(Optional.empty())).isEqualTo(decided);
        assertThat(total(Optional.of("hello"))).isEqualTo(160);
        assertThat(total(Optional.of("plan"))).isEqualTo(80);
        assertThat(total(Optional.of("other"))).isZero();
        assertThat(first.console.history().of(Optional.empty()).counts().stream()
                        .mapToLong(StepCounts.Counts::rejected)
                        .sum())
                .isEqualTo(40);
    }

    @Test
    void aDecisionIsInTheStepOfItsSecond() {
        first.report();
        first.decide("hello", 1, 0);
        long step = fleet.store.now.getEpochSecond() / 10;
        fleet.pass(Duration.ofSeconds(25));
        first.report();
        assertThat(fleet.store.steps.get(step).of(StepCounts.ALL).decided()).isOne();
    }

    @Test
    void anOpenBreakerPostponesTheCounts() {
        first.report();
        first.decide("hello", 7, 0);
        fail(Reason.BREAKER_OPEN);
        fleet.pass(Duration.ofSeconds(6));
        first.report();
        fleet.pass(Duration.ofSeconds(30));
        fleet.store.failure = Optional.empty();
        first.report();
        endStep();
        assertThat(total(Optional.empty())).isEqualTo(7);
    }

    @Test
    void countsWithoutAnAnswerAreNotSentAgain() {
        first.report();
        first.decide("hello", 7, 0);
        fail(Reason.TIMEOUT);
        fleet.pass(Duration.ofSeconds(6));
        first.report();
        fleet.store.failure = Optional.empty();
        fleet.pass(Duration.ofSeconds(5));
        first.report();
        endStep();
        assertThat(total(Optional.empty())).isZero();
    }

    @Test
    void logsAMissingRightOnce() {
        try (LogCapture log = new LogCapture()) {
            fail(Reason.BACKEND_ERROR);
            first.report();
            first.report();
            assertThat(log.lines()).singleElement().asString().contains("WEIR-441", "NOPERM");
            fleet.store.failure = Optional.empty();
            first.report();
            fail(Reason.BACKEND_ERROR);
            first.report();
            assertThat(log.lines()).hasSize(2);
            fail(Reason.TIMEOUT);
            first.report();
            assertThat(log.lines()).hasSize(2);
        }
    }

    @Test
    void readsClosedStepsOnce() {
        first.console.history().of(Optional.empty());
        assertThat(fleet.store.historyReads.get(0)).hasSize(FleetHistory.STEPS);
        fleet.pass(Duration.ofSeconds(30));
        first.console.history().of(Optional.of("hello"));
        assertThat(fleet.store.historyReads.get(1)).hasSizeBetween(3, 12);
    }

    @Test
    void anUnavailableStoreHasNoHistory() {
        fail(Reason.TIMEOUT);
        FleetHistory.Series series = first.console.history().of(Optional.empty());
        assertThat(series.problem()).contains("timeout");
        assertThat(series.counts()).hasSize(FleetHistory.STEPS).containsOnly(StepCounts.Counts.NONE);
    }

    @Test
    void anUnavailableStoreIsNotReadAgainAtOnce() {
        fail(Reason.TIMEOUT);
        first.console.history().of(Optional.empty());
        assertThat(first.console.history().of(Optional.of("hello")).problem()).contains("timeout");
        assertThat(fleet.store.historyReads).hasSize(1);
        fleet.pass(FleetReader.PAUSE);
        first.console.history().of(Optional.empty());
        assertThat(fleet.store.historyReads).hasSize(2);
    }

    @Test
    void reportsTheHistoryOfTheBusiestPoliciesOnly() {
        first.report();
        for (int i = 0; i < FleetReports.MAX_POLICIES + 50; i++) {
            first.decide("policy" + i, i < 50 ? 1 : 2, 0);
            first.operations.policies.add(
                    FakeOperations.policy("policy" + i, List.of(List.of("ip")), java.util.Map.of()));
        }
        fleet.pass(Duration.ofSeconds(1));
        first.report();
        endStep();
        assertThat(total(Optional.empty())).isEqualTo(50 + 2 * FleetReports.MAX_POLICIES);
        assertThat(total(Optional.of("policy10"))).isZero();
        assertThat(total(Optional.of("policy60"))).isEqualTo(2);
    }

    @Test
    void theHistoryInProcessIsBounded() {
        LocalFleetStore local = new LocalFleetStore(java.time.Clock.systemUTC());
        for (long step = 0; step < 1_000; step++) {
            local.report("a", new byte[0], java.util.Map.of(step, "1 0 *\n".getBytes()));
        }
        List<byte[]> kept = local.history(
                        java.util.stream.LongStream.range(0, 1_000).boxed().toList())
                .toCompletableFuture()
                .join();
        assertThat(kept.stream().filter(step -> step.length > 0)).hasSize(372);
    }
}
