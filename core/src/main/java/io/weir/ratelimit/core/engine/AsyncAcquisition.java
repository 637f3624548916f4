// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.engine.Acquisition.Step;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous run of an {@link Acquisition}, which occupies no thread during a wait. If the caller cancels the result, the
 * charges are refunded.
 */
final class AsyncAcquisition {
    private final Binding binding;
    private final Acquisition call;
    private final FallbackBackend backend;
    private final Sleeper sleeper;
    private final Executor executor;
    private final Consumer<TimedDecision> listener;
    private final CompletableFuture<Decision> result = new CompletableFuture<>();

    /**
     * Creates a run that has not started.
     *
     * @param executor runs all steps except those of the backend and of the timer
     * @param listener receives the decision before the result completes
     */
    AsyncAcquisition(
            Binding binding,
            Acquisition call,
            FallbackBackend backend,
            Sleeper sleeper,
            Executor executor,
            Consumer<TimedDecision> listener) {
        this.binding = binding;
        this.call = call;
        this.backend = backend;
        this.sleeper = sleeper;
        this.executor = executor;
        this.listener = listener;
    }

    /** Starts when the limits are known, on the calling thread if they already are. */
    CompletableFuture<Decision> start(CompletableFuture<?> limits) {
        if (limits.isDone()) {
            run(call.begin());
        } else {
            CompletionStage<?> known = limits;
            known.whenComplete((nothing, failure) -> onExecutor(this::begin));
        }
        return result;
    }

    /** Continues an acquisition that has to wait. */
    CompletableFuture<Decision> resume() {
        try {
            sleep();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        return result;
    }

    void cancel() {
        result.cancel(false);
    }

    private void begin() {
        if (!result.isDone()) {
            run(call.begin());
        }
    }

    private void run(Step step) {
        switch (step) {
            case ACQUIRE -> acquire();
            case SLEEP -> sleep();
            case CLAIM -> claim();
            case REFUND -> onExecutor(() -> run(call.refunded(backend.refund(call.refundedReceipt()))));
            case END -> onExecutor(this::end);
        }
    }

    private void claim() {
        // The next step can wait for another call of the request.
        backend.acquireAsync(Binding.NONE, call.claim())
                .thenAccept(claimed -> onExecutor(() -> run(call.claimed(claimed))))
                .whenComplete(this::failed);
    }

    /** Fails the call if a step has failed. */
    private void failed(@Nullable Void done, @Nullable Throwable failure) {
        if (failure != null) {
            fail(failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
        }
    }

    private void acquire() {
        TimedDecision known = call.decideByRecentFailure();
        if (known != null) {
            run(call.decided(known));
            return;
        }
        backend.acquireAsync(binding, call.charges())
                .thenAccept(timed -> {
                    call.recordFailure(timed.failure());
                    run(call.decided(timed));
                })
                .whenComplete(this::failed);
    }

    private void sleep() {
        CompletableFuture<Void> timer = sleeper.timer(call.waitMicros());
        CompletableFuture<Void> signal = call.signal();
        CompletionStage<?> due = signal == null ? timer : CompletableFuture.anyOf(timer, signal);
        due.whenComplete((nothing, failure) -> {
            timer.cancel(false);
            onExecutor(this::wake);
        });
        CompletionStage<Decision> ended = result;
        ended.whenComplete((decision, failure) -> timer.cancel(false));
    }

    private void wake() {
        if (result.isDone()) {
            backend.refund(call.abandon());
        } else {
            run(call.woken());
        }
    }

    private void end() {
        call.close();
        TimedDecision timed = call.result();
        if (timed != null) {
            listener.accept(timed);
        }
        if (!result.complete(timed == null ? Decision.Allowed.UNLIMITED : timed.decision())) {
            backend.refund(call.abandon());
        }
    }

    private void onExecutor(Runnable step) {
        try {
            executor.execute(() -> {
                try {
                    step.run();
                } catch (RuntimeException | Error e) {
                    fail(e);
                }
            });
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** Fails the call and refunds its permits, for instance because the executor accepts no more work. */
    private void fail(Throwable failure) {
        Receipt permits = call.abandon();
        result.completeExceptionally(failure);
        backend.refundAsync(permits);
    }
}
