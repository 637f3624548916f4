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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
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

    /** Completes when the call does not wait any longer for another call of the request; null if it does not wait. */
    private @Nullable CompletableFuture<Void> deadline;

    /**
     * Creates a run that has not started. The executor runs all steps except those of the backend and of the timer. The listener receives
     * the decision before the result completes.
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
            run(call.begin(), false);
        } else {
            beginAfter(limits);
        }
        return result;
    }

    /** Starts on the calling thread when the limits are known. This thread also ends a call that nothing delays. */
    CompletableFuture<Decision> startHere(CompletableFuture<?> limits) {
        try {
            beginWhen(limits);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        return result;
    }

    /** Starts on the executor, because it can block to find out the key and the limits. */
    CompletableFuture<Decision> startLater(Supplier<CompletableFuture<?>> limits) {
        onExecutor(() -> beginWhen(limits.get()));
        return result;
    }

    private void beginWhen(CompletableFuture<?> limits) {
        if (limits.isDone()) {
            begin();
        } else {
            beginAfter(limits);
        }
    }

    private void beginAfter(CompletableFuture<?> limits) {
        CompletionStage<?> known = limits;
        known.whenComplete((nothing, failure) -> onExecutor(this::begin));
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

    private void begin() {
        if (!result.isDone()) {
            run(call.begin(), true);
        }
    }

    /** Runs a step, on a thread of the call or else on one of the backend or of the timer. */
    private void run(Step step, boolean own) {
        switch (step) {
            case ACQUIRE -> acquire(own);
            case UNDECIDED -> awaitOtherCall();
            case SLEEP -> sleep();
            case CLAIM -> claim();
            case REFUND -> onExecutor(() -> run(call.refunded(backend.refund(call.refundedReceipt())), true));
            case END -> {
                if (own) {
                    end();
                } else {
                    onExecutor(this::end);
                }
            }
        }
    }

    private void claim() {
        backend.acquireAsync(Binding.NONE, call.claim())
                .thenAccept(claimed -> onExecutor(() -> run(call.claimed(claimed), true)))
                .whenComplete(this::failed);
    }

    /** Fails the call if a step has failed. */
    private void failed(@Nullable Void done, @Nullable Throwable failure) {
        if (failure != null) {
            fail(failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
        }
    }

    private void acquire(boolean own) {
        TimedDecision known = call.decideByRecentFailure();
        if (known != null) {
            run(call.decided(known), own);
            return;
        }
        CompletableFuture<TimedDecision> acquired =
                backend.acquireAsync(binding, call.charges()).toCompletableFuture();
        boolean here = own && acquired.isDone();
        CompletionStage<TimedDecision> decided = acquired;
        decided.thenAccept(timed -> {
                    call.recordFailure(timed.failure());
                    run(call.decided(timed), here);
                })
                .whenComplete(this::failed);
    }

    /** Reserves the charges again when the other call of the request has ended, until the deadline. */
    private void awaitOtherCall() {
        CompletableFuture<Void> late =
                deadline == null ? sleeper.timer(TimeUnit.NANOSECONDS.toMicros(backend.deadlineNanos())) : deadline;
        deadline = late;
        CompletableFuture<Void> change = call.otherCall();
        CompletionStage<?> due =
                change == null ? CompletableFuture.completedFuture(null) : CompletableFuture.anyOf(late, change);
        due.whenComplete((nothing, failure) -> onExecutor(() -> reserveAgain(late)));
    }

    private void reserveAgain(CompletableFuture<Void> late) {
        if (result.isDone()) {
            late.cancel(false);
            call.close();
            return;
        }
        Step step = late.isDone() ? call.withoutOtherCall() : call.reserve();
        if (step != Step.UNDECIDED) {
            late.cancel(false);
            deadline = null;
        }
        run(step, true);
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
            run(call.woken(), true);
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
