// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three processes call one upstream: a 429 at one of them pauses all of them. */
@Tag("ci")
@Tag("redis")
class OutgoingPauseTest {
    private static final int INSTANCES = 3;
    private static final int THREADS = 4;
    private static final int WINDOWS_IN_A_MINUTE = 29;

    /** The least used share of what the upstream permits. */
    private static final double LEAST_SHARE = 0.95;

    @TempDir
    private Path folder;

    /**
     * Calls until the upstream has opened again some times. Each thread has at most one call under way when the upstream closes, and
     * sends no other call before the upstream opens.
     *
     * @return the used share of the permitted calls
     */
    private double callUntil(int ended) throws IOException {
        String namespace = UUID.randomUUID().toString();
        List<OutgoingInstance> instances = new ArrayList<>();
        try (ClosingUpstream upstream = new ClosingUpstream()) {
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(OutgoingInstance.started(
                        folder.resolve("instance-" + i + ".log"),
                        RedisFixture.shared().address(),
                        namespace,
                        upstream.uri("instance-" + i),
                        THREADS));
            }
            Await.until("all instances call", Duration.ofMinutes(1), () -> upstream.callers() == INSTANCES);
            upstream.open();
            Await.until(
                    "the windows end",
                    Duration.ofMinutes(5),
                    () -> upstream.windows().size() >= ended);
            assertThat(instances).allMatch(OutgoingInstance::isAlive);
            List<ClosingUpstream.Window> windows = upstream.windows();
            assertThat(windows).allSatisfy(window -> {
                assertThat(window.answered()).isEqualTo(ClosingUpstream.PERMITTED);
                assertThat(window.rejected()).isBetween(1, INSTANCES * THREADS);
            });
            double share = upstream.usedShare();
            System.out.printf(
                    "outgoing calls: %d windows, %d calls answered, %d rejected by the upstream, %.1f %% of the permitted calls"
                            + " used%n",
                    windows.size(),
                    windows.stream().mapToInt(ClosingUpstream.Window::answered).sum(),
                    windows.stream().mapToInt(ClosingUpstream.Window::rejected).sum(),
                    100 * share);
            return share;
        } finally {
            instances.forEach(OutgoingInstance::close);
        }
    }

    @Test
    void noInstanceCallsDuringAPause() throws IOException {
        callUntil(3);
    }

    @Test
    @Tag("long")
    void instancesUseWhatTheUpstreamPermits() throws IOException {
        assertThat(callUntil(WINDOWS_IN_A_MINUTE)).isGreaterThanOrEqualTo(LEAST_SHARE);
    }
}
