// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The timer in real time. */
class SleeperTest {
    @Test
    void aTimerCompletes() {
        assertThat(Sleeper.REAL.timer(1).orTimeout(1, TimeUnit.MINUTES).join()).isNull();
    }

    @Test
    @Timeout(30)
    void aSignalWakesASleepingThread() throws Exception {
        CompletableFuture<Void> signal = new CompletableFuture<>();
        CompletableFuture<Boolean> woken = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                Sleeper.REAL.sleep(signal, TimeUnit.HOURS.toMicros(1));
                woken.complete(signal.isDone());
            } catch (InterruptedException e) {
                woken.completeExceptionally(e);
            }
        });
        thread.start();
        Await.until("the thread sleeps", Duration.ofSeconds(20), () -> LockSupport.getBlocker(thread) == Sleeper.REAL);
        signal.complete(null);
        assertThat(woken.get()).isTrue();
    }

    /** The queue of the JDK's timer would contain it for an hour. */
    @Test
    @Tag("field")
    void aCanceledTimerIsNotKept() {
        WeakReference<CompletableFuture<Void>> timer = new WeakReference<>(canceled());
        Await.until("the timer is collected", Duration.ofSeconds(30), () -> {
            System.gc();
            return timer.refersTo(null);
        });
    }

    private static CompletableFuture<Void> canceled() {
        CompletableFuture<Void> timer = Sleeper.REAL.timer(TimeUnit.HOURS.toMicros(1));
        assertThat(timer.cancel(false)).isTrue();
        assertThat(timer).isCancelled();
        return timer;
    }
}
