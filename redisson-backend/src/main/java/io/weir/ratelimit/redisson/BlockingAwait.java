// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Awaits calls on the caller's thread, each at most until the deadline. */
record BlockingAwait(Duration deadline) {
    /** Returns the deadline of a call that begins now, as {@link System#nanoTime}. */
    long deadlineFromNow() {
        return System.nanoTime() + deadline.toNanos();
    }

    /**
     * Awaits the first attempt to connect, so that calls right after the start do not fail. Throws a {@link BackendException} if there is
     * no connection, or the deadline has passed.
     */
    void awaitConnection(RedisClient redis, long deadlineNanos) {
        try {
            redis.awaitFirstAttempt(deadlineNanos);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (!redis.isReady()) {
            throw redis.notReady();
        }
        if (deadlineNanos - System.nanoTime() <= 0) {
            throw timedOut(deadline);
        }
    }

    /**
     * Awaits the result of a call until its deadline, and cancels the call if the thread awaits it no longer. Throws a
     * {@link BackendException} if the call fails or times out, or the thread is interrupted.
     */
    <T> T await(PendingCall<T> call) {
        await(call.completion(), call.deadlineNanos(), call::cancel);
        return call.result();
    }

    /** Awaits a future until a deadline, without ending it. */
    void await(CompletableFuture<Void> future, long deadlineNanos) {
        await(future, deadlineNanos, reason -> {});
    }

    private void await(CompletableFuture<?> future, long deadlineNanos, Consumer<BackendException> cancel) {
        try {
            future.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            BackendException timedOut = timedOut(deadline);
            cancel(future, cancel, timedOut);
        } catch (InterruptedException e) {
            cancel(future, cancel, interrupted(e));
        } catch (ExecutionException e) {
            throw RedisFailures.toBackendException(e.getCause() == null ? e : e.getCause());
        }
    }

    /**
     * Cancels a call and throws the reason, unless the call has a result: a call can complete at the last moment, and one whose shadow
     * charges are missing completes without them.
     */
    private static void cancel(
            CompletableFuture<?> future, Consumer<BackendException> cancel, BackendException reason) {
        cancel.accept(reason);
        if (!future.isDone() || future.isCompletedExceptionally()) {
            throw reason;
        }
    }

    /** Completes as a call does, with a {@link BackendException} if it fails, and by the deadline at the latest. The call continues. */
    static <T> CompletableFuture<T> byDeadline(CompletableFuture<T> sent, Duration deadline) {
        return sent.copy().orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS).exceptionallyCompose(failure -> {
            Throwable cause = RedisFailures.unwrap(failure);
            return CompletableFuture.failedFuture(
                    cause instanceof TimeoutException ? timedOut(deadline) : RedisFailures.toBackendException(cause));
        });
    }

    /** Returns the failure of a call whose deadline has passed. */
    static BackendException timedOut(Duration deadline) {
        return new BackendException(Reason.TIMEOUT, "Redis did not reply within " + deadline.toMillis() + " ms.", null);
    }

    private static BackendException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new BackendException(Reason.TIMEOUT, "The thread was interrupted while it waited for Redis.", e);
    }
}
