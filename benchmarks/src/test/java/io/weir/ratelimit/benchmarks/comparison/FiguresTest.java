// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.DoubleStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class FiguresTest {
    @Test
    void quartilesAreMedianAndMiddleHalf() {
        assertThat(Quartiles.of(DoubleStream.of(5, 1, 3, 2, 4))).isEqualTo(new Quartiles(2, 3, 4));
        assertThat(Quartiles.of(DoubleStream.of(2, 1)).median()).isEqualTo(1.5, within(1e-9));
        assertThat(new Quartiles(0.876, 1, 12.34).text()).isEqualTo("1.00 (0.88-12.3)");
    }

    @Test
    void percentileIsWithinASixteenth() {
        Latencies latencies = new Latencies();
        for (int i = 1; i <= 600; i++) {
            latencies.record(i * 1_000L);
        }

        assertThat(latencies.percentile(0.5)).isCloseTo(300_000, Percentage.withPercentage(7));
        assertThat(latencies.percentile(0.99)).isCloseTo(594_000, Percentage.withPercentage(7));
        assertThat(new Latencies().percentile(0.99)).isZero();
    }

    @Test
    void ratioIsComputedPerRound() {
        Result result = new Result(
                "one",
                false,
                List.of(measured(100, 1, 300), measured(300, 1, 1200), measured(500, 1, 3000)),
                List.of(measured(100, 1, 100), measured(100, 1, 200), measured(100, 1, 300)));

        assertThat(result.decisions().median()).isEqualTo(3, within(1e-9));
        assertThat(result.cpu().median()).isEqualTo(2, within(1e-9));
        assertThat(result.clientCpu().median()).isEqualTo(1 / 3.0, within(1e-9));
        assertThat(result.failed()).isEqualTo(9);
    }

    @Test
    void readsAFieldOfInfo() {
        assertThat(RedisUsage.field("# CPU\r\nchildren_used_cpu_sys:0.1\r\nused_cpu_sys:0.5\r\n", "used_cpu_sys"))
                .isEqualTo("0.5");
    }

    @Test
    void bestPeerIsTheFastestOfItsKindExceptTheFloors() {
        List<Result> all = List.of(
                result("floor", false, 900),
                result("Lettuce floor", false, 800),
                result("Weir, one", false, 200),
                result("Weir, leases", true, 600),
                result("slow", false, 10),
                result("fast", false, 100),
                result("holding", true, 300));

        assertThat(Report.comparedWithBestPeer(all, result -> !result.holdsPermits()))
                .isEqualTo("2.00 (2.00-2.00) × fast");
        assertThat(Report.comparedWithBestPeer(all, Result::holdsPermits)).isEqualTo("2.00 (2.00-2.00) × holding");
        assertThat(Report.comparedWithBestPeer(all.subList(0, 2), result -> true))
                .isEqualTo("-");
    }

    private static Result result(String name, boolean holdsPermits, long decisions) {
        return new Result(name, holdsPermits, List.of(measured(decisions, 1, 1)), List.of(measured(900, 1, 1)));
    }

    private static Measurement measured(long decisions, double seconds, double cpuMicros) {
        return new Measurement(decisions, 3, seconds, new RedisUsage(cpuMicros, 0), 600, new Latencies());
    }
}
