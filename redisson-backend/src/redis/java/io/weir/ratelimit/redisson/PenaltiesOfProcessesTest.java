// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three processes with 64 threads each call with one key: together they impose one penalty. */
@Tag("ci")
@Tag("redis")
class PenaltiesOfProcessesTest {
    private static final int PROCESSES = 3;
    private static final int THREADS = 64;

    @Test
    @Timeout(120)
    void allProcessesTogetherImposeOnePenalty() throws Exception {
        List<PenaltyInstance> instances = new ArrayList<>();
        try (TestBackend fixture =
                TestBackend.on(RedisFixture.shared().address()).ready()) {
            for (int process = 0; process < PROCESSES; process++) {
                instances.add(PenaltyInstance.started(fixture.address(), fixture.namespace(), THREADS));
            }
            for (PenaltyInstance instance : instances) {
                instance.awaitReady();
            }
            for (PenaltyInstance instance : instances) {
                instance.call();
            }
            List<String> lines = new ArrayList<>();
            for (PenaltyInstance instance : instances) {
                lines.addAll(instance.lines());
            }
            assertThat(lines).filteredOn(line -> line.startsWith("penalty")).containsExactly("penalty 1 of PT15M");
            List<String> allowed =
                    lines.stream().filter(line -> line.startsWith("allowed ")).toList();
            assertThat(allowed).hasSize(PROCESSES);
            assertThat(allowed.stream()
                            .mapToLong(line -> Long.parseLong(line.split(" ", -1)[1]))
                            .sum())
                    .isEqualTo(PenaltyInstance.PERMITS);
            Limit limit = Limit.of(Algorithm.FIXED_WINDOW, PenaltyInstance.PERMITS, Duration.ofHours(1));
            Quota quota = fixture.backend()
                    .peek(List.of(TestBackend.charge("p.ann", 1, limit)))
                    .get(0);
            assertThat(Micros.blockedFor(quota)).isBetween(1L, PenaltyInstance.RULE.firstMicros());
        } finally {
            instances.forEach(PenaltyInstance::close);
        }
    }
}
