// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How long callers wait for Redis, and what they are told when it takes longer. */
record Waiting(Duration deadline) {
    /** The instant, as {@link System#nanoTime}, until which a call that begins now waits. */
    long fromNow() {
        return System.nanoTime() + deadline.toNanos();
    }

    /** Right after the start, a call waits for the first attempt to connect instead of failing at once. */
    void firstAttempt(RedisClient redis, long until) {
        try {
            redis.awaitFirstAttempt(until);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        // Redis was not asked, which is nothing for the breaker.
        if (!redis.isReady()) {
            throw redis.notReady();
        }
        if (until - System.nanoTime() <= 0) {
            throw late();
        }
    }

    <T> T await(CompletableFuture<T> future, long until, Runnable giveUp) {
        try {
            return future.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            giveUp.run();
            // What was admitted without everything it asked for ends by giving up, and what was answered just now is an
            // answer.
            if (future.isDone() && !future.isCompletedExceptionally()) {
                return future.join();
            }
            throw late();
        } catch (InterruptedException e) {
            giveUp.run();
            throw interrupted(e);
        } catch (ExecutionException e) {
            throw RedisClient.failure(e.getCause() == null ? e : e.getCause());
        }
    }

    BackendException late() {
        return new BackendException(Reason.TIMEOUT, "no answer of Redis within " + deadline.toMillis() + " ms", null);
    }

    private static BackendException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new BackendException(Reason.TIMEOUT, "interrupted while waiting for Redis", e);
    }
}
