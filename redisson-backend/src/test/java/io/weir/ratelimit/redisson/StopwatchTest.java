// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StopwatchTest {
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    @Test
    void aWatchGoesOnWhileAThreadWaits() {
        Stopwatch watch = Stopwatch.started();
        Await.until(
                "it has gone on", Duration.ofSeconds(30), () -> watch.elapsed().compareTo(A_SECOND) > 0);
        assertThat(System.nanoTime() - watch.startNanos()).isGreaterThan(A_SECOND.toNanos());
    }

    @Test
    void aWatchStandsStillWhileTheWholeProcessDoes() throws Exception {
        Stopwatch watch = Stopwatch.started();
        long start = System.nanoTime();
        long self = ProcessHandle.current().pid();
        new ProcessBuilder("sh", "-c", "kill -STOP " + self + "; sleep 1; kill -CONT " + self)
                .inheritIO()
                .start()
                .waitFor();
        long took = System.nanoTime() - start;
        assertThat(took).isGreaterThan(A_SECOND.toNanos());
        assertThat(Duration.ofNanos(took).minus(watch.elapsed())).isGreaterThan(A_SECOND.dividedBy(2));
    }
}
