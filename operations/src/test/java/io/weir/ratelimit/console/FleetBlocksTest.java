// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.report.Current;
import io.weir.ratelimit.core.events.KnownBlocks.Cause;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The blocked keys that the instances of a fleet know of. */
class FleetBlocksTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private static void met(SimulatedFleet.Member member, String key, Duration rest) {
        member.operations.blocks.met("hello", key, rest.toNanos() / 1_000);
    }

    private static FleetBlocks seen(SimulatedFleet.Member member) {
        return FleetBlocks.of(member.fleet());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 50})
    void mergesTheReportsAboutAKey(int size) {
        SimulatedFleet fleet = new SimulatedFleet(size);
        fleet.member(0).operations.blocks.penalized("hello", "i.a", HOUR, 2);
        fleet.pass(Duration.ofMinutes(10));
        for (int i = 0; i < size; i++) {
            met(fleet.member(i), "i.a", Duration.ofMinutes(50).plusMillis(i));
            met(fleet.member(i), "i.only" + i, Duration.ofMinutes(i + 1));
        }
        fleet.reportAll();
        fleet.pass(Duration.ofSeconds(4));
        for (SimulatedFleet.Member member : fleet.members) {
            FleetBlocks blocks = seen(member);
            assertThat(blocks.complete()).isTrue();
            assertThat(blocks.keys()).hasSize(size + 1);
            FleetBlocks.BlockedKey merged = blocks.keys().stream()
                    .filter(key -> key.block().storedKey().equals("i.a"))
                    .findFirst()
                    .orElseThrow();
            assertThat(merged.instances()).isEqualTo(size);
            assertThat(merged.block().cause()).isEqualTo(Cause.PENALTY);
            assertThat(merged.block().penalty()).isEqualTo(2);
            assertThat(merged.block().rest()).isBetween(Duration.ofMinutes(50).minusSeconds(5), Duration.ofMinutes(50));
            assertThat(blocks.keys())
                    .isSortedAccordingTo((one, other) ->
                            other.block().rest().compareTo(one.block().rest()));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50})
    void anEndedBlockIsNotListedWhateverOtherInstancesReport(int size) {
        SimulatedFleet fleet = new SimulatedFleet(size);
        fleet.members.forEach(member -> met(member, "i.a", HOUR));
        fleet.pass(Duration.ofMinutes(1));
        fleet.member(1).operations.blocks.ended("hello", "i.a");
        // Another instance has a known rejection for a moment.
        fleet.pass(Duration.ofSeconds(1));
        met(fleet.member(2), "i.a", HOUR.minusSeconds(61));
        fleet.reportAll();
        fleet.members.forEach(member -> assertThat(seen(member).keys()).isEmpty());
        fleet.pass(Duration.ofSeconds(30));
        fleet.reportAll();
        fleet.members.forEach(member -> assertThat(seen(member).keys()).isEmpty());
        met(fleet.member(2), "i.a", HOUR);
        fleet.reportAll();
        fleet.pass(Duration.ofSeconds(2));
        fleet.members.forEach(member -> assertThat(seen(member).keys()).hasSize(1));
    }

    @Test
    void theLastKnowledgeApplies() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.member(0).operations.blocks.penalized("hello", "i.a", HOUR, 1);
        fleet.pass(Duration.ofMinutes(1));
        fleet.member(1).operations.blocks.blocked("hello", "i.a", Duration.ofDays(1));
        fleet.reportAll();
        assertThat(seen(fleet.member(0)).keys()).singleElement().satisfies(key -> {
            assertThat(key.block().cause()).isEqualTo(Cause.OPERATOR);
            assertThat(key.block().rest()).isEqualTo(Duration.ofDays(1));
            assertThat(key.instances()).isOne();
        });
    }

    @Test
    void aBlockIsNotListedAfterItsEnd() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        met(fleet.member(1), "i.a", Duration.ofSeconds(5));
        fleet.reportAll();
        assertThat(seen(fleet.member(0)).keys()).hasSize(1);
        fleet.pass(Duration.ofSeconds(5));
        assertThat(seen(fleet.member(0)).keys()).isEmpty();
    }

    @Test
    void tellsThatAnInstanceKnowsOfMoreBlocks() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        for (int i = 1; i <= 2 * Current.MAX_BLOCKS; i++) {
            met(fleet.member(1), "i." + i, Duration.ofMinutes(i));
        }
        fleet.reportAll();
        FleetBlocks blocks = seen(fleet.member(0));
        assertThat(blocks.complete()).isFalse();
        assertThat(blocks.keys()).hasSize(Current.MAX_BLOCKS);
        assertThat(blocks.keys().get(0).block().storedKey()).isEqualTo("i." + 2 * Current.MAX_BLOCKS);
    }

    @Test
    void tellsThatAReportCanHaveNoRoomForABlock() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        for (int i = 1; i <= 2 * Current.MAX_BLOCKS; i++) {
            met(fleet.member(1), "i." + "x".repeat(90) + i, Duration.ofMinutes(i));
        }
        fleet.reportAll();
        FleetBlocks blocks = seen(fleet.member(0));
        assertThat(blocks.keys()).hasSizeLessThan(Current.MAX_BLOCKS);
        assertThat(blocks.complete()).isFalse();
        assertThat(seen(fleet.member(1)).complete()).isFalse();
    }

    @Test
    void selectsAPolicyAndFindsTheCaller() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.member(1).operations.blocks.penalized("hello", "i.a", HOUR, 3);
        fleet.reportAll();
        FleetCallers callers = new FleetCallers(fleet.member(0).fleet(), fleet.member(0).operations);
        assertThat(callers.view(Optional.of("plan"))).containsEntry("blocked", List.of());
        assertThat(callers.view(Optional.of("hello")).get("blocked"))
                .isEqualTo(List.of(Map.of(
                        "policy",
                        "hello",
                        "key",
                        "i.a",
                        "instances",
                        1,
                        "cause",
                        "penalty",
                        "end",
                        fleet.store.now.plus(HOUR).toEpochMilli(),
                        "restMillis",
                        HOUR.toMillis(),
                        "penalty",
                        Optional.of(3),
                        "penaltyMillis",
                        Optional.of(HOUR.toMillis()))));
        assertThat(callers.find("hello", "i.a")).isPresent();
    }
}
