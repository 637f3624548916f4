// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.Growth;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports and steps of the history that a neighbor on the same Redis has written. */
class HostileReportsTest {
    private final SimulatedFleet fleet = new SimulatedFleet(2);

    private static byte[] repeat(String text, int length) {
        return text.repeat(length / text.length()).getBytes(US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1 ", "1 1 ", "1 1 a", "1 1 a\n", "\n", "\r", "1 1\n"})
    @Tag("field")
    void aStepIsReadInLinearTime(String part) {
        byte[] largest = repeat(part, FleetStore.MAX_STEP_BYTES);
        for (int i = 0; i < 10; i++) {
            StepCounts.parse(largest);
        }
        Growth.isLinear("a step of " + part, FleetStore.MAX_STEP_BYTES, size -> {
            byte[] step = repeat(part, size);
            for (int i = 0; i < 10; i++) {
                StepCounts.parse(step);
            }
        });
    }

    @Test
    void anyStepIsRead() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("steps of the history: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        String[] words = {"1", " ", "\n", "\r", "*", "=api", "999999999999999", "9".repeat(16), "-", "\u00e4"};
        for (int round = 0; round < 2_000; round++) {
            String text = IntStream.range(0, random.nextInt(80))
                    .mapToObj(i -> words[random.nextInt(words.length)])
                    .collect(Collectors.joining());
            StepCounts counts = StepCounts.parse(text.getBytes(UTF_8));
            assertThat(StepCounts.parse(counts.lines()).lines())
                    .as("-Dweir.test.seed=%d, round %d", seed, round)
                    .isEqualTo(counts.lines());
            assertThat(counts.lines()).hasSizeLessThanOrEqualTo(FleetStore.MAX_STEP_BYTES);
        }
    }

    @Test
    void aStepIsReadOnce() {
        SimulatedFleet.Member member = fleet.member(0);
        fleet.reportAll();
        long step = Math.floorDiv(fleet.store.now.getEpochSecond(), FleetStore.STEP.toSeconds()) - 100;
        fleet.store
                .steps
                .computeIfAbsent(step, first -> new StepCounts())
                .add(StepCounts.nameOf("hello"), new StepCounts.Counts(7, 3));
        for (String policy : List.of("hello", "plan", "hello")) {
            assertThat(member.console.history().of(Optional.of(policy)).counts().stream()
                            .mapToLong(StepCounts.Counts::decided)
                            .sum())
                    .isEqualTo(policy.equals("hello") ? 7 : 0);
        }
        assertThat(fleet.store.historyReads.subList(1, 3))
                .allSatisfy(read -> assertThat(read).doesNotContain(step));
    }

    /** Writes a part of a report. */
    private interface Part {
        void write(DataOutputStream out) throws IOException;
    }

    /** Returns a valid report with the digest of no other, with parts of any length. */
    private static byte[] report(long digest, Part rates, Part values) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeByte(ReportCodec.FORM);
            for (int text = 0; text < 5; text++) {
                out.writeUTF("");
            }
            out.writeLong(0);
            out.writeUTF("");
            out.writeUTF("up");
            out.writeBoolean(false);
            out.writeLong(0);
            out.writeUTF("");
            out.writeLong(0);
            out.writeLong(0);
            out.writeBoolean(true);
            out.writeInt(0);
            out.writeLong(digest);
            out.writeInt(1);
            out.writeLong(0);
            out.writeUTF("");
            out.writeInt(0);
            rates.write(out);
            values.write(out);
            out.writeInt(0);
            out.writeInt(0);
            out.writeInt(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static Part none() {
        return out -> out.writeInt(0);
    }

    /** Returns one policy with as many empty values. */
    private static Part emptyValues(int count) {
        return out -> {
            out.writeInt(1);
            out.writeUTF("p");
            out.writeInt(count);
            out.write(new byte[6 * count]);
        };
    }

    private static Part emptyRates(int count) {
        return out -> {
            out.writeInt(count);
            for (int i = 0; i < count; i++) {
                out.writeUTF("p");
                out.write(new byte[3]);
            }
        };
    }

    private static Part policies(String prefix, int count) {
        return out -> {
            out.writeInt(count);
            for (int i = 0; i < count; i++) {
                out.writeUTF(prefix + i);
                out.writeInt(0);
            }
        };
    }

    private void store(String instance, byte[] report) {
        assertThat(report.length).isLessThanOrEqualTo(FleetStore.MAX_REPORT_BYTES);
        fleet.store.reports.put(instance, new FakeFleetStore.Stored(fleet.store.now, Optional.of(report)));
    }

    @Test
    @Tag("field")
    void reportsWithManyShortElementsNeedBoundedMemory() {
        byte[] values = report(1, none(), emptyValues(10_000));
        byte[] rates = report(1, emptyRates(9_000), none());
        for (int i = 0; i < 998; i++) {
            store("i" + i, i % 2 == 0 ? values : rates);
        }
        Fleet read = fleet.member(0).fleet();
        assertThat(read.unreadable()).isGreaterThan(900);
        long elements = read.members().stream()
                .mapToLong(member -> member.report().rates().size()
                        + member.report().values().stream()
                                .mapToLong(policy -> policy.values().size())
                                .sum())
                .sum();
        assertThat(elements).isBetween(1L, FleetReader.MAX_MEMORY / 90);
    }

    @Test
    void reportsThatCannotBeReadNeedNoAllowance() {
        byte[] values = report(1, none(), emptyValues(10_000));
        for (int i = 0; i < 200; i++) {
            byte[] broken = values.clone();
            broken[broken.length - 1] = 1;
            store("broken" + i, broken);
        }
        fleet.reportAll();
        Fleet read = fleet.member(0).fleet();
        assertThat(read.unreadable()).isEqualTo(200);
        assertThat(read.members()).hasSize(2);
    }

    @Test
    void aUsualReportNeedsAFewTimesItsBytes() {
        SimulatedFleet.Member member = fleet.member(0);
        member.operations.policies.clear();
        for (int i = 0; i < 200; i++) {
            member.operations.policies.add(FakeOperations.staged("policy-" + i, 10));
        }
        fleet.reportAll();
        byte[] report = fleet.store.reports.values().stream()
                .map(stored -> stored.content().orElseThrow())
                .max((one, other) -> Integer.compare(one.length, other.length))
                .orElseThrow();
        assertThat(report.length).isGreaterThan(10_000);
        assertThat(ReportCodec.read(report, new ReportCodec.Allowance(6L * report.length)))
                .isPresent();
        assertThat(ReportCodec.read(report, new ReportCodec.Allowance(report.length)))
                .isEmpty();
    }

    @Test
    void manyForgedPoliciesDoNotHideADifference() {
        fleet.member(1).operations.policies.set(0, FakeOperations.withLimit("hello", "7/10s", "file-2"));
        fleet.reportAll();
        for (int i = 0; i < 5; i++) {
            store("a" + i, report(i, none(), policies("a" + i + "-", 4_000)));
        }
        Map<String, Object> view =
                InstancesView.of(fleet.member(0).fleet(), fleet.member(0).operations, fleet.store.now);
        assertThat(view.get("differences").toString()).contains("7/10s");
        assertThat((List<?>) view.get("differences")).hasSizeLessThanOrEqualTo(InstancesView.MAX_DIFFERENCES);
    }
}
