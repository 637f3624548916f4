// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.slots.Sleeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The clock of a test on Redis. Redis decides by its own clock, so nothing moves this one. */
final class RealClock implements TestClock {
    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public long nanos() {
        return REAL.nanos();
    }

    @Override
    public CompletableFuture<Void> timer(long micros) {
        return REAL.timer(micros);
    }

    @Override
    public void pause(Duration duration) {
        timer(duration.toNanos() / 1_000).join();
    }

    @Override
    public Sleeper tasks() {
        return REAL;
    }

    @Override
    public void testThread(@Nullable Thread thread) {}

    @Override
    public void reset() {}

    @Override
    public void advance(Duration duration) {
        throw unsupported();
    }

    @Override
    public int waiting() {
        throw unsupported();
    }

    @Override
    public void awaitWaiting(int calls) {
        throw unsupported();
    }

    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException("Redis decides by its own clock, which a test cannot move");
    }
}
