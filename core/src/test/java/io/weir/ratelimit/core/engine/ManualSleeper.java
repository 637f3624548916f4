// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.tck.ManualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A sleeper with the clock of a test. A sleeping thread advances the clock, unless the test closes the gate. */
public final class ManualSleeper implements Sleeper {
    public final List<Long> waits = new ArrayList<>();
    public final List<CompletableFuture<Void>> timers = new ArrayList<>();

    /** Runs while a thread sleeps. */
    Runnable meanwhile = () -> {};

    /** Keeps sleeping threads asleep until it opens, if set. */
    CountDownLatch gate;

    private final ManualTime time;

    public ManualSleeper(ManualTime time) {
        this.time = time;
    }

    @Override
    public long nanos() {
        return time.micros() * 1_000;
    }

    /** Sleeps for the whole time unless the signal comes before. */
    @Override
    public void sleep(CompletableFuture<Void> signal, long micros) throws InterruptedException {
        if (signal.isDone()) {
            return;
        }
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
        waits.add(micros);
        return gate;
    }

    @Override
    public synchronized CompletableFuture<Void> timer(long micros) {
        waits.add(micros);
        CompletableFuture<Void> started = new CompletableFuture<>();
        timers.add(started);
        return started;
    }

    public synchronized int waitCount() {
        return waits.size();
    }
}
