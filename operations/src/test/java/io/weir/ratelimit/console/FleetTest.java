// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fleet as each of its instances sees it. */
class FleetTest {
    private static Map<String, Object> instances(SimulatedFleet.Member member) {
        return InstancesView.of(
                member.fleet(), member.operations, member.fleet().at());
    }

    private static TopKeys top(TopKeys.Entry... rejected) {
        return new TopKeys(List.of(rejected), List.of(), List.of(), Duration.ofMinutes(5));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 50})
    void eachInstanceSeesAllInstancesAndTheirSums(int size) {
        SimulatedFleet fleet = new SimulatedFleet(size);
        for (int i = 0; i < size; i++) {
            fleet.member(i).decide("hello", 10, i);
        }
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        int rejections = size * (size - 1) / 2;
        for (SimulatedFleet.Member member : fleet.members) {
            Fleet seen = member.fleet();
            assertThat(seen.members().stream().map(one -> one.report().origin().host()))
                    .hasSize(size)
                    .doesNotHaveDuplicates();
            assertThat(seen.members().get(0).self()).isTrue();
            Map<String, Object> view = instances(member);
            assertThat(view)
                    .containsEntry("scope", "fleet")
                    .containsEntry("reporting", size)
                    .containsEntry("vanished", 0)
                    .containsEntry("drifted", 0)
                    .containsEntry("unreadableReports", 0);
            assertThat(view.get("rates"))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                    .containsEntry("decidedPerSecond", (10 * size + rejections) / 10.0)
                    .containsEntry("rejectedPerSecond", rejections / 10.0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50})
    void marksTheInstanceThatDecidesByOtherLimits(int size) {
        SimulatedFleet fleet = new SimulatedFleet(size);
        fleet.member(1).operations.policies.set(0, FakeOperations.withLimit("hello", "7/10s", "file-2"));
        fleet.reportAll();
        for (SimulatedFleet.Member member : fleet.members) {
            Drift drift = Drift.of(member.fleet().reporting());
            assertThat(drift.byPolicy()).containsOnlyKeys("hello");
            assertThat(drift.byPolicy().get("hello")).singleElement().satisfies(deviation -> {
                assertThat(deviation.member().report().origin().host()).isEqualTo("host-2");
                assertThat(deviation.attribute()).isEqualTo("limit");
                assertThat(deviation.value()).isEqualTo("7/10s");
                assertThat(deviation.source()).isEqualTo("file-2");
                assertThat(deviation.expected()).isEqualTo("5/10s");
                assertThat(deviation.expectedSource()).isEqualTo("application.properties");
            });
            assertThat(instances(member)).containsEntry("drifted", 1);
        }
    }

    @Test
    void instancesOfOneHostHaveDifferentNames() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        fleet.members.forEach(member -> member.host = "app-7");
        fleet.member(1).operations.policies.set(0, FakeOperations.withLimit("hello", "7/10s", "file-2"));
        fleet.reportAll();
        Map<String, Object> view = instances(fleet.member(0));
        assertThat((List<?>) view.get("instances"))
                .extracting("name")
                .containsExactly("app-7/4711-0001", "app-7/4711-0002", "app-7/4711-0003");
        assertThat((List<?>) view.get("differences")).extracting("name").containsExactly("app-7/4711-0002");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 50})
    void runningCallsAreSummedOverTheInstancesThatReport(int size) {
        SimulatedFleet fleet = new SimulatedFleet(size);
        for (int i = 0; i < size; i++) {
            fleet.member(i).operations.running.put("hello", i);
            fleet.member(i).operations.running.put("plan", 1);
        }
        fleet.reportAll();
        int sum = size * (size - 1) / 2;
        for (SimulatedFleet.Member member : fleet.members) {
            Map<String, Object> view = instances(member);
            assertThat(view).containsEntry("runningCalls", (long) sum + size);
            assertThat((List<?>) view.get("instances"))
                    .extracting("running")
                    .contains(Map.of("hello", (long) size - 1, "plan", 1L));
            assertThat((List<?>)
                            PoliciesView.of(member.fleet(), member.operations).get("policies"))
                    .extracting("runningCalls")
                    .containsExactly(Optional.of((long) sum), Optional.of((long) size));
        }
        fleet.pass(Duration.ofSeconds(20));
        assertThat(instances(fleet.member(0))).containsEntry("runningCalls", 1L);
    }

    @Test
    void aPolicyWithoutAConcurrencyLimitHasNoRunningCalls() {
        SimulatedFleet fleet = new SimulatedFleet(1);
        assertThat((List<?>) PoliciesView.of(fleet.member(0).fleet(), fleet.member(0).operations)
                        .get("policies"))
                .extracting("runningCalls")
                .containsOnly(Optional.empty());
    }

    @Test
    void anotherShareOfEnforcedKeysIsADifference() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        for (int i = 0; i < 3; i++) {
            fleet.member(i).operations.policies.set(0, FakeOperations.staged("hello", i == 1 ? 50 : 10));
        }
        fleet.reportAll();
        assertThat(Drift.of(fleet.member(0).fleet().reporting()).byPolicy().get("hello"))
                .singleElement()
                .satisfies(deviation -> {
                    assertThat(deviation.member().report().origin().host()).isEqualTo("host-2");
                    assertThat(deviation.attribute()).isEqualTo("enforce-percent");
                    assertThat(deviation.value()).isEqualTo("50");
                    assertThat(deviation.expected()).isEqualTo("10");
                });
        assertThat(PoliciesView.of(fleet.member(1).fleet(), fleet.member(1).operations)
                        .toString())
                .contains("mode=shadow, enforcePercent=50", "drifted=true");
    }

    @Test
    void aSourceAloneIsNoDifference() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        fleet.member(1).operations.policies.set(0, FakeOperations.withLimit("hello", "5/10s", "file-2"));
        fleet.reportAll();
        assertThat(Drift.of(fleet.member(0).fleet().reporting()).byPolicy()).isEmpty();
        assertThat(instances(fleet.member(0))).containsEntry("drifted", 0);
    }

    @Test
    void aMissingPolicyIsADifference() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        fleet.member(2).operations.policies.remove(1);
        fleet.reportAll();
        assertThat(Drift.of(fleet.member(0).fleet().reporting()).byPolicy().get("plan"))
                .singleElement()
                .satisfies(deviation -> {
                    assertThat(deviation.attribute()).isEqualTo("policy");
                    assertThat(deviation.value()).isEqualTo("missing");
                });
    }

    @Test
    void aDifferenceBeyondTheBytesOfAReportMarksTheInstance() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        for (SimulatedFleet.Member member : fleet.members) {
            for (int i = 0; i < 2_000; i++) {
                member.operations.policies.add(FakeOperations.withLimit("policy-" + i, "5/10s", "source"));
            }
        }
        fleet.member(2).operations.policies.add(FakeOperations.withLimit("zzz", "1/1s", "source"));
        fleet.reportAll();
        assertThat(Drift.of(fleet.member(0).fleet().reporting()).byPolicy()).isEmpty();
        assertThat(instances(fleet.member(0))).containsEntry("drifted", 1);
    }

    @Test
    void anInstanceVanishesAndIsForgottenAMinuteLater() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.member(1).decide("hello", 10, 0);
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        assertThat(instances(fleet.member(0))).containsEntry("reporting", 2).containsEntry("vanished", 0);
        fleet.pass(Duration.ofSeconds(14));
        assertThat(instances(fleet.member(0))).containsEntry("reporting", 2);
        fleet.pass(Duration.ofSeconds(1));
        assertThat(instances(fleet.member(0))).containsEntry("reporting", 1).containsEntry("vanished", 1);
        assertThat(fleet.member(0).fleet().members().get(1).report().origin().host())
                .isEqualTo("host-2");
        fleet.pass(Duration.ofSeconds(59));
        assertThat(instances(fleet.member(0))).containsEntry("vanished", 1);
        fleet.pass(Duration.ofSeconds(1));
        assertThat(instances(fleet.member(0))).containsEntry("reporting", 1).containsEntry("vanished", 0);
    }

    @Test
    void aVanishedInstanceDoesNotCount() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.member(1).decide("hello", 10, 0);
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        fleet.pass(Duration.ofSeconds(20));
        assertThat(instances(fleet.member(0)).get("rates").toString()).contains("decidedPerSecond=0.0");
    }

    @Test
    void mergesTopKeysWithTheirBounds() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        TopKeys.Entry[] full = new TopKeys.Entry[20];
        for (int i = 0; i < 20; i++) {
            full[i] = new TopKeys.Entry("i.full" + i, 100 - i, 100 - i, 0.5);
        }
        fleet.member(0).operations.top =
                top(new TopKeys.Entry("i.a", 40, 42, 1), new TopKeys.Entry("i.full0", 5, 5, 1));
        fleet.member(1).operations.top = top(full);
        fleet.members.forEach(member -> member.decide("hello", 1, 0));
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        Map<String, Object> callers =
                new FleetCallers(fleet.member(0).fleet(), fleet.member(0).operations).view(Optional.empty());
        assertThat((List<?>) callers.get("rejected"))
                .hasSize(20)
                .first()
                .isEqualTo(Map.of(
                        "policy",
                        "hello",
                        "key",
                        "i.full0",
                        "instances",
                        2,
                        "minCount",
                        105L,
                        "maxCount",
                        105L,
                        "utilization",
                        1.0));
        // The second instance can have rejected it as often as the last key of its list.
        Map<String, Object> other = Map.of(
                "policy",
                "hello",
                "key",
                "i.a",
                "instances",
                1,
                "minCount",
                40L,
                "maxCount",
                42L + 81L,
                "utilization",
                1.0);
        assertThat(((List<?>) callers.get("rejected")).contains(other)).isTrue();
    }

    @Test
    void trueCountIsAlwaysWithinTheMergedBounds() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int keys = 1 + random.nextInt(40);
            long[] sums = new long[keys];
            List<InstanceReport.PolicyKeys> reports = new ArrayList<>();
            for (int instance = 0; instance < 1 + random.nextInt(5); instance++) {
                List<TopKeys.Entry> all = new ArrayList<>();
                for (int key = 0; key < keys; key++) {
                    int count = random.nextInt(100);
                    sums[key] += count;
                    all.add(new TopKeys.Entry("k" + key, Math.max(0, count - random.nextInt(3)), count, 0));
                }
                all.sort(Comparator.comparingLong(TopKeys.Entry::maxCount).reversed());
                List<TopKeys.Entry> listed = all.subList(0, Math.min(20, keys));
                long others = keys > 20 ? listed.get(19).maxCount() : 0;
                reports.add(new InstanceReport.PolicyKeys(
                        "hello",
                        new TopKeys(listed, listed, List.of(), Duration.ZERO),
                        others,
                        others,
                        InstanceReport.Minute.NONE));
            }
            for (MergedKeys.Entry entry : MergedKeys.of(reports).rejected()) {
                long sum = sums[Integer.parseInt(entry.storedKey().substring(1))];
                assertThat(sum).as("seed %d", seed).isBetween(entry.minCount(), entry.maxCount());
            }
        }
    }

    @Test
    void trueCountIsWithinTheBoundsOfAPolicyForWhichAReportHasNoRoom() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        SimulatedFleet fleet = new SimulatedFleet(3);
        Map<String, Long> sums = new HashMap<>();
        for (SimulatedFleet.Member member : fleet.members) {
            addPolicies(member, 30);
            for (int policy = 0; policy < 30; policy++) {
                List<TopKeys.Entry> entries = new ArrayList<>();
                for (int key = 0; key < ReportCodec.MAX_KEYS; key++) {
                    int count = 1 + random.nextInt(1_000);
                    String name = "i.abcdefghijklmnopq." + policy + "." + key;
                    sums.merge(name, (long) count, Long::sum);
                    entries.add(new TopKeys.Entry(name, count, count, 1));
                }
                entries.sort(Comparator.comparingLong(TopKeys.Entry::maxCount).reversed());
                member.operations.tops.put(
                        "policy-" + policy, new TopKeys(entries, entries, List.of(), Duration.ofMinutes(5)));
            }
        }
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        Fleet seen = fleet.member(0).fleet();
        assertThat(seen.members().get(1).report().keys()).hasSizeBetween(6, 10);
        FleetCallers callers = new FleetCallers(seen, fleet.member(0).operations);
        for (int policy = 0; policy < 30; policy++) {
            MergedKeys keys = callers.of("policy-" + policy);
            assertThat(keys.rejected()).hasSize(ReportCodec.MAX_KEYS);
            for (MergedKeys.Entry entry : List.of(keys.rejected(), keys.active()).stream()
                    .flatMap(List::stream)
                    .toList()) {
                assertThat(sums.get(entry.storedKey()))
                        .as("seed %d", seed)
                        .isBetween(entry.minCount(), entry.maxCount());
            }
        }
        assertThat(callers.view(Optional.of(InstanceReport.OTHERS))).containsEntry("rejected", List.of());
    }

    @Test
    void theSumsContainPoliciesForWhoseRatesAReportHasNoRoom() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        fleet.members.forEach(member -> addPolicies(member, 300));
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        assertThat(fleet.member(0).fleet().members().get(1).report().rates()).hasSizeBetween(80, 120);
        Map<String, Object> view = instances(fleet.member(0));
        assertThat(view.get("rates").toString()).contains("decidedPerSecond=180.0");
        assertThat((List<?>) view.get("instances"))
                .extracting("decidedPerSecond")
                .containsOnly(60.0);
    }

    /** Adds policies, each with decisions. */
    private static void addPolicies(SimulatedFleet.Member member, int count) {
        for (int policy = 0; policy < count; policy++) {
            member.operations.policies.add(FakeOperations.policy("policy-" + policy, List.of(List.of("ip")), Map.of()));
            member.decide("policy-" + policy, 1, 1);
        }
    }

    @Test
    void looksUpAKeyThatAnotherInstanceLists() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.member(1).operations.top = top(new TopKeys.Entry("i.elsewhere", 40, 42, 1));
        fleet.member(1).decide("hello", 1, 0);
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
        FleetCallers callers = new FleetCallers(fleet.member(0).fleet(), fleet.member(0).operations);
        assertThat(callers.find("hello", "i.elsewhere").orElseThrow().key()).isEqualTo("i.elsewhere");
        assertThat(callers.find("hello", "i.other")).isEmpty();
        assertThat(callers.find("plan", "i.elsewhere")).isEmpty();
    }

    @Test
    void ignoresAndCountsWhatIsNoReport() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.reportAll();
        fleet.store.reports.put("bad1", new FakeFleetStore.Stored(fleet.store.now, Optional.of(new byte[] {1, 2, 3})));
        fleet.store.reports.put("bad2", new FakeFleetStore.Stored(fleet.store.now, Optional.empty()));
        fleet.store.reports.put(
                "bad3",
                new FakeFleetStore.Stored(
                        fleet.store.now, Optional.of("<html>".repeat(10_000).getBytes())));
        try (LogCapture log = new LogCapture()) {
            assertThat(instances(fleet.member(0)))
                    .containsEntry("unreadableReports", 3)
                    .containsEntry("reporting", 2);
            fleet.pass(Duration.ofSeconds(2));
            assertThat(instances(fleet.member(0))).containsEntry("unreadableReports", 3);
            assertThat(log.lines()).singleElement().asString().contains("WEIR-440", "3");
        }
    }

    @Test
    void keepsTheLastReportsWhileTheStoreFails() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.reportAll();
        assertThat(instances(fleet.member(0))).containsEntry("problem", Optional.empty());
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "no answer", null));
        fleet.pass(Duration.ofSeconds(10));
        assertThat(instances(fleet.member(0)))
                .containsEntry("problem", Optional.of("timeout"))
                .containsEntry("reporting", 2);
        fleet.pass(Duration.ofSeconds(10));
        assertThat(instances(fleet.member(0)))
                .containsEntry("reporting", 1)
                .containsEntry("vanished", 0)
                .containsEntry("unknown", 1);
    }

    @Test
    void readsTheStoreOncePerTwoSeconds() {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.reportAll();
        for (int i = 0; i < 10; i++) {
            fleet.member(0).fleet();
        }
        assertThat(fleet.store.reads).isOne();
        fleet.pass(Duration.ofSeconds(2));
        fleet.member(0).fleet();
        assertThat(fleet.store.reads).isEqualTo(2);
    }

    @Test
    void pagesThatOpenAtTheSameTimeAllWaitForTheFirstReading() {
        for (int round = 0; round < 20; round++) {
            SimulatedFleet fleet = new SimulatedFleet(2);
            fleet.reportAll();
            assertThat(IntStream.range(0, 16)
                            .parallel()
                            .mapToObj(i -> fleet.member(0).fleet().members().size()))
                    .containsOnly(2);
        }
    }

    @Test
    void aPageThatOpensAfterAPauseWaitsForTheReadingOfAnother() throws Exception {
        SimulatedFleet fleet = new SimulatedFleet(2);
        fleet.reportAll();
        fleet.member(0).fleet();
        fleet.pass(Duration.ofMinutes(2));
        fleet.reportAll();
        AtomicInteger seen = new AtomicInteger();
        Thread other =
                new Thread(() -> seen.set(fleet.member(0).fleet().members().size()));
        fleet.store.beforeRead = () -> {
            other.start();
            while (other.isAlive() && other.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
        };
        assertThat(fleet.member(0).fleet().members()).hasSize(2);
        other.join(10_000);
        assertThat(seen).hasValue(2);
    }

    @Test
    void aBackendInProcessHasNoOtherInstance() {
        FakeOperations operations = new FakeOperations();
        LiveRates rates = new LiveRates(System::nanoTime);
        FleetConsole alone = FleetConsole.of(
                operations,
                rates,
                () -> new InstanceReport.Origin("host", "4711-3f2a", "1", "server", "17", java.time.Instant.EPOCH),
                java.time.Clock.systemUTC(),
                System::nanoTime);
        alone.reports().run();
        Fleet fleet = alone.reader().read();
        assertThat(fleet.shared()).isFalse();
        assertThat(fleet.members())
                .singleElement()
                .satisfies(member -> assertThat(member.self()).isTrue());
        operations.numberOfInstances = 7;
        assertThat(InstancesView.of(fleet, operations, fleet.at()))
                .containsEntry("scope", "instance")
                .containsEntry("numberOfInstances", 7);
    }

    @Test
    void countsDegradedInstances() {
        SimulatedFleet fleet = new SimulatedFleet(3);
        fleet.member(2).operations.backend = FakeOperations.report(BackendHealth.State.DEGRADED, true);
        fleet.reportAll();
        assertThat(instances(fleet.member(0))).containsEntry("degraded", 1);
        assertThat(fleet.member(0).fleet().members().stream()
                        .map(member -> member.report().backend().leases())
                        .collect(toSet()))
                .containsExactlyInAnyOrder(3, 0);
    }
}
