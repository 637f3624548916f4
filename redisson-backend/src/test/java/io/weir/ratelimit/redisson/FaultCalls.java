// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Calls of a backend that is unavailable, each with a check of its duration. */
public final class FaultCalls {
    static final Duration DEADLINE = Duration.ofMillis(100);

    /** The time by which a call may exceed the deadline, delays by the machine not included. */
    static final Duration MARGIN = Duration.ofMillis(250);

    static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 100_000, Duration.ofDays(1));

    private FaultCalls() {}

    /** Calls, checks that the call fails in time, and returns the failure. */
    static BackendException failure(RedissonBackend backend) {
        Stopwatch watch = Stopwatch.started();
        try {
            Decision decision = backend.acquire(List.of(TestBackend.charge("k.fault", 1, LIMIT)));
            throw new AssertionError("decided " + decision);
        } catch (BackendException e) {
            assertInTime(watch);
            return e;
        }
    }

    /** Calls asynchronously, checks that the call returns at once and fails in time, and returns the failure. */
    static BackendException asyncFailure(RedissonBackend backend) {
        Stopwatch watch = Stopwatch.startedForTimer();
        CompletableFuture<Decision> decision = backend.acquireAsync(List.of(TestBackend.charge("k.fault", 1, LIMIT)))
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

    /** Calls until a call fails for a reason, checks that each call fails in time, and returns the failure. */
    public static BackendException awaitFailure(RedissonBackend backend, Reason reason) {
        AtomicReference<BackendException> last = new AtomicReference<>();
        Await.until("a call fails with " + reason, Duration.ofSeconds(30), () -> {
            last.set(failure(backend));
            return last.get().reason() == reason;
        });
        return last.get();
    }

    private static void assertInTime(Stopwatch watch) {
        assertThat(watch.elapsed()).as("duration of a failing call").isLessThan(DEADLINE.plus(MARGIN));
    }

    /** Returns the spent permits of the only limit of a charge. A peek that times out is repeated, since it changes nothing. */
    static long spent(RedissonBackend backend, Charge charge) {
        AtomicLong remaining = new AtomicLong();
        Await.until("the backend returns a quota", Duration.ofSeconds(30), () -> {
            try {
                remaining.set(backend.peek(List.of(charge)).get(0).remaining());
                return true;
            } catch (BackendException e) {
                return false;
            }
        });
        return charge.policy().limits().get(0).capacity() - remaining.get();
    }

    /** Waits until the backend decides again. */
    public static void awaitDecision(RedissonBackend backend) {
        Await.until("the backend decides", Duration.ofSeconds(30), () -> {
            try {
                return backend.acquire(List.of(TestBackend.charge("k.recovered", 1, LIMIT)))
                        .allowed();
            } catch (BackendException e) {
                return false;
            }
        });
    }
}
