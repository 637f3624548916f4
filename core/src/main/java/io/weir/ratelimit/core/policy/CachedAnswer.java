// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.policy.SourceListener.Failure;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The last answer of the application about one subject, with at most one look-up at a time. A failed look-up keeps the answer.
 */
final class CachedAnswer<A> {
    private final LookupContext context;
    private final String subject;
    private final CompletableFuture<Void> firstAnswer = new CompletableFuture<>();
    private final AtomicBoolean looking = new AtomicBoolean();
    private final AtomicReference<A> answer;
    private volatile long startedNanos;
    private volatile long answeredNanos;

    /** Creates an answer that is the initial one until a look-up has succeeded. The subject is for the report of a failure. */
    CachedAnswer(LookupContext context, String subject, A initial) {
        this.context = context;
        this.subject = subject;
        this.answer = new AtomicReference<>(initial);
        this.startedNanos = context.times().nanoTime().getAsLong();
    }

    /** Returns the last answer without waiting. */
    A get() {
        return Objects.requireNonNull(answer.get());
    }

    /** Replaces the last answer, unless a look-up has replaced it. */
    void replace(A last, A next) {
        answer.compareAndSet(last, next);
    }

    boolean isStale() {
        return !firstAnswer.isDone()
                || context.times().nanoTime().getAsLong() - answeredNanos
                        >= context.times().lifetimeNanos();
    }

    /**
     * Starts a look-up, unless one runs or the answer is not stale anymore. The look-up calls the application, and returns the change of
     * the last answer. The name, of the policy or of the resolver, is for the report of a failure.
     */
    void refresh(String name, Supplier<UnaryOperator<A>> lookUp) {
        if (!looking.compareAndSet(false, true)) {
            return;
        }
        if (!isStale() || !context.freeLookups().tryAcquire()) {
            looking.set(false);
            if (isStale()) {
                context.failed(name, subject, Failure.BUSY, null);
            }
            return;
        }
        startedNanos = context.times().nanoTime().getAsLong();
        ClassLoader application = Thread.currentThread().getContextClassLoader();
        try {
            context.executor().get().execute(() -> run(name, lookUp, application));
        } catch (RuntimeException | Error e) { // no thread can be created, for example
            ended(name, e);
        }
    }

    private void run(String name, Supplier<UnaryOperator<A>> lookUp, @Nullable ClassLoader application) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(application);
        Throwable failure = null;
        try {
            answer.updateAndGet(lookUp.get());
        } catch (Throwable e) { // otherwise the last answer would be a fresh one
            failure = e;
        } finally {
            thread.setContextClassLoader(before);
            ended(name, failure);
        }
    }

    private void ended(String name, @Nullable Throwable failure) {
        if (failure == null) {
            context.succeeded(name);
        } else {
            context.failed(name, subject, Failure.ERROR, failure);
        }
        answeredNanos = context.times().nanoTime().getAsLong();
        context.freeLookups().release();
        looking.set(false);
        firstAnswer.complete(null);
    }

    private long remainingNanos() {
        return firstAnswer.isDone() || !looking.get()
                ? 0
                : context.times().deadlineNanos() - (context.times().nanoTime().getAsLong() - startedNanos);
    }

    /** Waits for the first answer, until the deadline. */
    void await(String name) {
        long remaining = remainingNanos();
        if (remaining > 0) {
            try {
                firstAnswer.get(remaining, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                context.failed(name, subject, Failure.TIMEOUT, null);
            }
        }
    }

    /** Returns a future that completes with the first answer or at the deadline. */
    CompletableFuture<Void> awaitAsync(String name, LongFunction<CompletableFuture<Void>> timer) {
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
                context.failed(name, subject, Failure.TIMEOUT, null);
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
