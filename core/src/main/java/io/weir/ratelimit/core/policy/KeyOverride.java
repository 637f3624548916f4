// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.policy.SourceListener.Failure;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The limits of one key, with at most one look-up at a time. It does not hold the key, because a client can have sent megabytes.
 */
final class KeyOverride {
    private final LookupContext context;
    private final CompletableFuture<Void> firstAnswer = new CompletableFuture<>();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final AtomicReference<OverrideAnswer> answer = new AtomicReference<>(OverrideAnswer.NONE);
    private volatile long startedNanos;
    private volatile long answeredNanos;

    KeyOverride(LookupContext context) {
        this.context = context;
        this.startedNanos = context.nanoTime().getAsLong();
    }

    /** Returns the limits of the last answer under the current policy. */
    Optional<PolicyLimits> limits(Policy policy) {
        OverrideAnswer last = Objects.requireNonNull(answer.get());
        if (last.isUnder(policy)) {
            return last.limits();
        }
        OverrideAnswer current = last.under(policy);
        answer.compareAndSet(last, current);
        return current.limits();
    }

    private boolean isStale() {
        return !firstAnswer.isDone() || context.nanoTime().getAsLong() - answeredNanos >= context.lifetimeNanos();
    }

    /** Starts a look-up if the last answer is too old and no look-up runs. */
    void refreshIfStale(Policy policy, Identity key) {
        if (!isStale() || !looking.compareAndSet(false, true)) {
            return;
        }
        if (!isStale() || !context.slots().tryAcquire()) {
            looking.set(false);
            if (isStale()) {
                context.listener().failed(policy.name(), Failure.BUSY);
            }
            return;
        }
        startedNanos = context.nanoTime().getAsLong();
        ClassLoader application = Thread.currentThread().getContextClassLoader();
        try {
            context.executor().get().execute(() -> lookUp(policy, key, application));
        } catch (RuntimeException e) {
            ended(policy, e);
        }
    }

    private void lookUp(Policy policy, Identity key, @Nullable ClassLoader application) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(application);
        Throwable failure = null;
        try {
            Optional<LimitOverride> limits = context.sources().find(policy.name(), key);
            answer.updateAndGet(last -> last.next(limits, policy));
        } catch (Exception | LinkageError | AssertionError e) {
            failure = e;
        } finally {
            thread.setContextClassLoader(before);
            ended(policy, failure);
        }
    }

    private void ended(Policy policy, @Nullable Throwable failure) {
        if (failure != null) {
            context.failed(policy, failure);
        }
        answeredNanos = context.nanoTime().getAsLong();
        context.slots().release();
        looking.set(false);
        firstAnswer.complete(null);
    }

    private long remainingNanos() {
        return firstAnswer.isDone() || !looking.get()
                ? 0
                : context.deadlineNanos() - (context.nanoTime().getAsLong() - startedNanos);
    }

    /** Waits for the first answer, until the deadline. */
    void await(Policy policy) {
        long remaining = remainingNanos();
        if (remaining > 0) {
            try {
                firstAnswer.get(remaining, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                context.listener().failed(policy.name(), Failure.TIMEOUT);
            }
        }
    }

    /** Returns a future that completes with the first answer or at the deadline. */
    CompletableFuture<Void> awaitAsync(Policy policy, LongFunction<CompletableFuture<Void>> timer) {
        CompletableFuture<Void> ready = new CompletableFuture<>();
        long remaining = remainingNanos();
        if (remaining <= 0) {
            ready.complete(null);
            return ready;
        }
        CompletableFuture<Void> timeout = timer.apply(TimeUnit.NANOSECONDS.toMicros(remaining) + 1);
        CompletionStage<Void> timedOut = timeout;
        timedOut.thenRun(() -> {
            if (ready.complete(null)) {
                context.listener().failed(policy.name(), Failure.TIMEOUT);
            }
        });
        CompletionStage<Void> answered = firstAnswer;
        answered.thenRun(() -> {
            ready.complete(null);
            timeout.cancel(false);
        });
        return ready;
    }
}
