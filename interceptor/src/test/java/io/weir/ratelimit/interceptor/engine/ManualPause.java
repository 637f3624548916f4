// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.spi.ManualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Waits by the clock of a test: a held thread moves it, unless the test wants threads to stay where they wait. */
final class ManualPause implements Pause {
    final List<Long> held = new ArrayList<>();
    final List<CompletableFuture<Void>> timers = new ArrayList<>();

    /** Runs while a thread is held. */
    Runnable meanwhile = () -> {};

    /** Lets held threads go on, if set. */
    CountDownLatch gate;

    private final ManualTime time;

    ManualPause(ManualTime time) {
        this.time = time;
    }

    @Override
    public long nanos() {
        return time.micros() * 1_000;
    }

    @Override
    public void hold(long micros) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        CountDownLatch closed = note(micros);
        if (closed != null) {
            closed.await();
        } else {
            time.advanceMicros(micros);
        }
        meanwhile.run();
    }

    private synchronized CountDownLatch note(long micros) {
        held.add(micros);
        return gate;
    }

    @Override
    public synchronized CompletableFuture<Void> after(long micros) {
        held.add(micros);
        CompletableFuture<Void> timer = new CompletableFuture<>();
        timers.add(timer);
        return timer;
    }

    synchronized int waits() {
        return held.size();
    }
}
