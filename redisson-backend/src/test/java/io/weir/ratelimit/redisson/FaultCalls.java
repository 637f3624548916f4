// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Calls of a store that cannot decide, with a watch on how long each takes. */
final class FaultCalls {
    static final Duration DEADLINE = Duration.ofMillis(100);

    /** What a busy machine may add to the deadline, beside standing still, before a test says that a call came late. */
    static final Duration MARGIN = Duration.ofMillis(250);

    static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 100_000, Duration.ofDays(1));

    private FaultCalls() {}

    /** Calls, expects that it fails in time, and answers why. */
    static BackendException failure(RedissonBackend backend) {
        Stopwatch watch = Stopwatch.started();
        try {
            Decision decision = backend.acquire(List.of(TestStore.charge("k.fault", 1, LIMIT)));
            throw new AssertionError("decided " + decision);
        } catch (BackendException e) {
            assertInTime(watch);
            return e;
        }
    }

    /** As {@link #failure}, without waiting on this thread: the call returns at once and completes in time. */
    static BackendException asyncFailure(RedissonBackend backend) {
        Stopwatch watch = Stopwatch.started();
        CompletableFuture<Decision> decision = backend.acquireAsync(List.of(TestStore.charge("k.fault", 1, LIMIT)))
                .toCompletableFuture();
        assertThat(watch.elapsed()).as("time until the call returned").isLessThan(DEADLINE.plus(MARGIN));
        try {
            throw new AssertionError("decided " + decision.get(10, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            assertInTime(watch);
            assertThat(e).hasCauseInstanceOf(BackendException.class);
            return (BackendException) e.getCause();
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("never completed", e);
        }
    }

    private static void assertInTime(Stopwatch watch) {
        assertThat(watch.elapsed()).as("time a failing call took").isLessThan(DEADLINE.plus(MARGIN));
    }

    /** Permits that are spent under the only limit of a charge; asked again where a look comes too late, which changes nothing. */
    static long spent(RedissonBackend backend, Charge charge) {
        AtomicLong remaining = new AtomicLong();
        Await.until("the store tells what is left", Duration.ofSeconds(30), () -> {
            try {
                remaining.set(backend.peek(charge).get(0).remaining());
                return true;
            } catch (BackendException e) {
                return false;
            }
        });
        return charge.policy().limits().get(0).capacity() - remaining.get();
    }

    /** Waits until the store decides again. */
    static void awaitDecision(RedissonBackend backend) {
        Await.until("the store decides", Duration.ofSeconds(30), () -> {
            try {
                return backend.acquire(List.of(TestStore.charge("k.recovered", 1, LIMIT)))
                        .allowed();
            } catch (BackendException e) {
                return false;
            }
        });
    }
}
