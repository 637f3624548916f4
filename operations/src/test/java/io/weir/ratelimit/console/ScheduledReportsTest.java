// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The times at which an instance reports. */
class ScheduledReportsTest {
    private final SimulatedFleet fleet = new SimulatedFleet(3);
    private final SimulatedFleet.Member first = fleet.member(0);
    private final SimulatedFleet.Member second = fleet.member(1);
    private final SimulatedFleet.Member third = fleet.member(2);

    private int reports() {
        return fleet.store.writes.size();
    }

    private void reload(SimulatedFleet.Member member, String limit) {
        member.operations.policies.set(0, FakeOperations.withLimit("hello", limit, "file"));
        member.operations.reload = new Reading(fleet.store.now, ReloadListener.Result.APPLIED, List.of());
    }

    private Object drifted(SimulatedFleet.Member member) {
        return InstancesView.of(member.fleet(), member.operations, fleet.store.now)
                .get("drifted");
    }

    @Test
    void reportsAtOnceAfterTheStartAndThenEveryFiveSeconds() {
        first.run(Duration.ofMillis(500));
        assertThat(reports()).isOne();
        first.run(Duration.ofMillis(4_500));
        assertThat(reports()).isOne();
        first.run(Duration.ofSeconds(56));
        assertThat(reports()).isEqualTo(1 + 60 / 5);
    }

    @Test
    void aReloadIsOnThePageOfAnotherInstanceAfterASecond() {
        for (SimulatedFleet.Member member : fleet.members) {
            member.run(Duration.ofSeconds(1));
        }
        assertThat(drifted(third)).isEqualTo(0);
        reload(first, "7/10s");
        fleet.pass(Duration.ofMillis(100));
        assertThat(drifted(third)).isEqualTo(0);
        first.run(Duration.ofMillis(500));
        fleet.pass(Duration.ofMillis(400));
        assertThat(drifted(third)).isEqualTo(1);
        reload(second, "7/10s");
        reload(third, "7/10s");
        second.run(Duration.ofMillis(500));
        fleet.pass(Duration.ofMillis(500));
        assertThat(drifted(third)).isEqualTo(0);
    }

    @Test
    void aRuntimeChangeHasAReportOfItsOwn() throws Exception {
        FakeRuntimeChanges changes = new FakeRuntimeChanges(first.operations);
        first.operations.changes = Optional.of(changes);
        first.run(Duration.ofSeconds(2));
        assertThat(reports()).isOne();
        changes.make(
                new ChangeRequest(
                        new Subject(Kind.POLICY, "hello", Optional.empty()),
                        Map.of("limit", "7/10s"),
                        Optional.empty(),
                        "test",
                        "ann"),
                changes.view().tag());
        first.run(Duration.ofMillis(500));
        assertThat(reports()).isEqualTo(2);
        first.run(Duration.ofSeconds(4));
        assertThat(reports()).isEqualTo(2);
    }

    @Test
    void changesOfASecondHaveOneReport() {
        first.run(Duration.ofMillis(500));
        for (int i = 0; i < 100; i++) {
            reload(first, (i + 1) + "/10s");
            first.run(Duration.ofMillis(500));
        }
        assertThat(reports()).isBetween(45, 51);
        first.run(Duration.ofSeconds(1));
        assertThat(drifted(second)).isEqualTo(1);
    }

    @Test
    void aChangeHasNoReportOfItsOwnWhileTheLastOneHasNoAnswer() {
        fleet.store.silent = true;
        first.run(Duration.ofMillis(500));
        reload(first, "7/10s");
        first.run(Duration.ofSeconds(30));
        assertThat(reports()).isOne();
    }

    @Test
    void aChangeHasNoReportOfItsOwnAfterAFailedOne() {
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "Redis is slow", null));
        first.run(Duration.ofMillis(500));
        for (int i = 0; i < 20; i++) {
            reload(first, (i + 1) + "/10s");
            first.run(Duration.ofMillis(500));
        }
        assertThat(reports()).isEqualTo(1 + 10 / 5);
        fleet.store.failure = Optional.empty();
        first.run(Duration.ofSeconds(5));
        reload(first, "70/10s");
        int before = reports();
        first.run(Duration.ofSeconds(1));
        assertThat(reports()).isEqualTo(before + 1);
    }

    @Test
    void aFailedReadingIsNotRepeatedForTwoSeconds() {
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "Redis is slow", null));
        first.fleet();
        fleet.pass(FleetReader.LIFETIME);
        first.fleet();
        assertThat(fleet.store.reads).isOne();
        fleet.pass(FleetReader.LIFETIME);
        first.fleet();
        assertThat(fleet.store.reads).isEqualTo(2);
    }
}
