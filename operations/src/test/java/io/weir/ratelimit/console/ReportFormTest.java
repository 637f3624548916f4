// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.MinuteCounts;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.operations.PolicyView;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The bytes of reports. */
class ReportFormTest {
    private static final String NAME = "4711-3f2a";

    private final SimulatedFleet fleet = new SimulatedFleet(1);
    private final SimulatedFleet.Member member = fleet.member(0);

    private static Optional<InstanceReport> read(byte[] report) {
        return ReportCodec.read(report, new ReportCodec.Allowance(FleetReader.MAX_MEMORY));
    }

    private InstanceReport report() {
        return new ReportBuilder(
                        member.operations,
                        member.rates,
                        () -> new InstanceReport.Origin(
                                "h\u00f6st", NAME, "1.0", "server", "17", Instant.ofEpochSecond(9)),
                        new MinuteCounts(fleet.nanos::get))
                .build();
    }

    private InstanceReport usual() {
        member.operations.top = new TopKeys(
                List.of(new TopKeys.Entry("i.a", 40, 42, 1)),
                List.of(new TopKeys.Entry("i.b", 90, 91, 0.5)),
                List.of(new TopKeys.NearLimit("i.c", Duration.ofMinutes(62))),
                Duration.ofSeconds(50));
        member.operations.running.put("hello", 4);
        member.operations.blocks.penalized("hello", "i.d", Duration.ofHours(2), 3);
        member.operations.blocks.blocked("hello", "i.e", Duration.ofDays(366));
        member.operations.blocks.ended("hello", "i.f");
        member.decide("hello", 3, 2);
        fleet.pass(Duration.ofSeconds(1));
        return report();
    }

    @Test
    void ignoresAnotherForm() {
        byte[] written = ReportCodec.write(usual());
        assertThat(read(written)).isPresent();
        written[0]++;
        assertThat(read(written)).isEmpty();
    }

    /** Instances of several versions read the same report. If this fails, the form has changed: give it another number. */
    @Test
    void theBytesOfTheFormAreFixed() throws NoSuchAlgorithmException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(ReportCodec.write(usual()));
        assertThat(ReportCodec.FORM + " " + HexFormat.of().formatHex(digest, 0, 8))
                .isEqualTo("1 d23bba107a664924");
    }

    @Test
    void readsWhatIsWritten() {
        InstanceReport report = usual();
        assertThat(report.rates()).hasSize(1);
        assertThat(report.keys()).hasSize(1);
        assertThat(report.keys().get(0).minute())
                .isEqualTo(new InstanceReport.Minute(Duration.ofSeconds(50), Map.of("i.b", 90L)));
        assertThat(report.values()).hasSize(2);
        assertThat(report.current().running()).hasSize(1);
        assertThat(report.current().blocks()).hasSize(3);
        assertThat(read(ReportCodec.write(report))).contains(report);
    }

    @Test
    void aReportIsBoundedWithTenThousandPoliciesAndLongNames() {
        String name = "\uffff".repeat(200);
        member.operations.policies.clear();
        List<TopKeys.Entry> keys = new ArrayList<>();
        List<TopKeys.NearLimit> near = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            keys.add(new TopKeys.Entry("i." + "x".repeat(250) + i, 1, 1, 1));
            near.add(new TopKeys.NearLimit("i." + "x".repeat(250) + i, Duration.ofMinutes(1)));
        }
        member.operations.top = new TopKeys(keys, keys, near, Duration.ofMinutes(5));
        List<PolicyView> policies = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            policies.add(FakeOperations.policy(i + name, List.of(List.of("ip")), Map.of()));
            member.operations.running.put(i + name, 1);
            member.operations.blocks.met(
                    i + name, "i." + "x".repeat(250) + i, Duration.ofDays(1).toNanos() / 1_000);
            member.decide(i + name, 1, 0);
        }
        member.operations.policies.addAll(policies);
        fleet.pass(Duration.ofSeconds(1));
        byte[] written = ReportCodec.write(report());
        assertThat(written.length).isBetween(20_000, FleetStore.MAX_REPORT_BYTES);
        InstanceReport read = read(written).orElseThrow();
        assertThat(read.configuration().policies()).isEqualTo(10_000);
        assertThat(read.rates()).isNotEmpty();
        assertThat(read.values()).isNotEmpty();
        assertThat(read.keys()).isNotEmpty();
        assertThat(read.current().running()).isNotEmpty();
        assertThat(read.current().blocks()).isNotEmpty();
    }

    @Test
    void aPolicyWithATooLongNameIsLeftOut() {
        member.operations.policies.add(FakeOperations.policy("x".repeat(40_000), List.of(List.of("ip")), Map.of()));
        member.decide("x".repeat(40_000), 1, 0);
        assertThat(read(ReportCodec.write(usual())).orElseThrow().values()).hasSize(2);
    }

    @Test
    void longTextsAreCut() {
        String large = "\uffff".repeat(50_000);
        member.operations.policies.set(
                0,
                new PolicyView(
                        "hello",
                        "enforce",
                        0,
                        "sliding-window",
                        "ip",
                        List.of(),
                        List.of(),
                        Map.of(),
                        1,
                        "open",
                        List.of(new PolicyView.Setting("ratelimit.policies.hello.limit", large, large)),
                        List.of(),
                        ""));
        InstanceReport.Value value = read(ReportCodec.write(report()))
                .orElseThrow()
                .values()
                .get(0)
                .values()
                .get(0);
        assertThat(value.attribute()).isEqualTo("limit");
        assertThat(value.value()).hasSize(ReportCodec.MAX_TEXT).endsWith("\u2026");
    }

    @Test
    void findsTheAttributeOfAQuotedName() {
        member.operations.policies.set(
                0,
                new PolicyView(
                        "a.limit",
                        "enforce",
                        0,
                        "sliding-window",
                        "ip",
                        List.of(),
                        List.of(),
                        Map.of(),
                        1,
                        "open",
                        List.of(
                                new PolicyView.Setting("ratelimit.policies.\"a.limit\".tiers.x.limit", "1", "s"),
                                new PolicyView.Setting("ratelimit.policies.a.limit.key", "ip", "s")),
                        List.of(),
                        ""));
        assertThat(report().values().get(0).values())
                .extracting(InstanceReport.Value::attribute)
                .containsExactly("tiers.x.limit", "key");
    }

    @Test
    void otherBytesAreNoReport() {
        byte[] written = ReportCodec.write(usual());
        for (int length = 0; length < written.length; length++) {
            assertThat(read(Arrays.copyOf(written, length))).isEmpty();
        }
        assertThat(read(Arrays.copyOf(written, written.length + 1))).isEmpty();
        byte[] otherForm = written.clone();
        otherForm[0]++;
        assertThat(read(otherForm)).isEmpty();
        assertThat(read(new byte[FleetStore.MAX_REPORT_BYTES + 1])).isEmpty();
    }

    @Test
    void changedBytesAreNoReportOrOneWithinItsRanges() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        byte[] written = ReportCodec.write(usual());
        for (int round = 0; round < 20_000; round++) {
            byte[] changed = written.clone();
            for (int i = 0; i <= random.nextInt(4); i++) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            }
            read(changed).ifPresent(read -> {
                read.keys()
                        .forEach(keys -> assertThat(keys.top().rejected())
                                .as("seed %d", seed)
                                .allMatch(entry -> entry.minCount() >= 0 && entry.minCount() <= entry.maxCount())
                                .allMatch(entry -> entry.key().matches("[!-~&&[^{}:]]+")));
                read.rates()
                        .forEach(rates -> assertThat(rates.minute().values())
                                .as("seed %d", seed)
                                .allMatch(count -> count >= 0));
            });
        }
    }

    @Test
    void randomBytesAreNoReport() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int round = 0; round < 5_000; round++) {
            byte[] bytes = new byte[random.nextInt(2_000)];
            random.nextBytes(bytes);
            assertThat(read(bytes)).as("seed %d", seed).isEmpty();
        }
    }
}
