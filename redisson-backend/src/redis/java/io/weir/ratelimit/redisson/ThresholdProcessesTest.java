// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three processes on one Redis, of which one reports each share of a key, once in a period. Their clocks differ by days. */
@Tag("ci")
@Tag("redis")
class ThresholdProcessesTest {
    private static final List<Duration> CLOCK_DIFFERENCES =
            List.of(Duration.ofDays(-3), Duration.ZERO, Duration.ofDays(3));

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void oneProcessReportsEachShareOncePerPeriodAlthoughObserversThrow(@TempDir Path logs) throws Exception {
        List<ThresholdInstance> instances = new ArrayList<>();
        try (TestBackend fixture =
                TestBackend.on(RedisFixture.shared().address()).ready()) {
            for (Duration difference : CLOCK_DIFFERENCES) {
                instances.add(ThresholdInstance.started(
                        fixture.address(), fixture.namespace(), difference, logs.resolve("log" + instances.size())));
            }
            assertThat(events(instances, "2026-11-05T00:00:00Z")).containsExactlyInAnyOrderElementsOf(eachShareOnce());
            assertThat(events(instances, "2026-11-20T00:00:00Z"))
                    .as("in the same periods")
                    .isEmpty();
            assertThat(events(instances, "2026-12-21T00:00:00Z")).containsExactlyInAnyOrderElementsOf(eachShareOnce());
        } finally {
            instances.forEach(ThresholdInstance::close);
        }
    }

    /** Lets all instances call at the same time, and returns their events. */
    private static List<String> events(List<ThresholdInstance> instances, String instant) throws IOException {
        for (ThresholdInstance instance : instances) {
            instance.call(Instant.parse(instant));
        }
        List<String> events = new ArrayList<>();
        for (ThresholdInstance instance : instances) {
            events.addAll(instance.events());
        }
        return events;
    }

    private static List<String> eachShareOnce() {
        List<String> all = new ArrayList<>();
        for (String policy : ThresholdInstance.POLICIES) {
            for (int key = 0; key < ThresholdInstance.KEYS; key++) {
                for (int percent : ThresholdInstance.SHARES) {
                    all.add(policy + " user" + key + " " + percent);
                }
            }
        }
        return all;
    }
}
