// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.interceptor.engine.DecidingStore.Told;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One decision without a thread of its own: a timer continues it after a wait. Who cancels its result is charged nothing, as
 * far as the store can be told.
 */
final class AsyncDecision {
    private final Binding binding;
    private final DecidingStore store;
    private final Pause pause;
    private final Shaping.Waiter waiter;
    private final Supplier<List<Charge>> charges;
    private final Executor executor;
    private final Consumer<Told> listener;
    private final CompletableFuture<Decision> result = new CompletableFuture<>();

    /**
     * A decision that is not asked for yet.
     *
     * @param charges what to charge, with what is left of the call's patience
     * @param executor does everything but the store's and the timer's work
     * @param listener hears of the decision before the caller
     */
    AsyncDecision(
            Binding binding,
            DecidingStore store,
            Pause pause,
            Shaping.Waiter waiter,
            Supplier<List<Charge>> charges,
            Executor executor,
            Consumer<Told> listener) {
        this.binding = binding;
        this.store = store;
        this.pause = pause;
        this.waiter = waiter;
        this.charges = charges;
        this.executor = executor;
        this.listener = listener;
    }

    /** Asks as soon as the limits are known, at once if they are. */
    CompletableFuture<Decision> start(CompletableFuture<?> limitsKnown) {
        if (limitsKnown.isDone()) {
            ask(charges.get());
        } else {
            CompletionStage<?> known = limitsKnown;
            known.whenComplete((nothing, failure) -> onExecutor(this::askUnlessCancelled));
        }
        return result;
    }

    private void askUnlessCancelled() {
        if (!result.isDone()) {
            ask(charges.get());
        }
    }

    private void ask(List<Charge> asked) {
        store.decideAsync(binding, asked).thenAccept(this::answered).whenComplete((done, failure) -> {
            if (failure != null) {
                fail(
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure);
            }
        });
    }

    private void answered(Told told) {
        long wait = Shaping.waitOf(told);
        if (!waiter.takePlaces(told, wait)) {
            onExecutor(() -> withoutWaiting(told));
        } else if (wait == 0) {
            onExecutor(() -> end(told));
        } else {
            CompletableFuture<Void> slot = pause.after(wait);
            CompletionStage<Void> due = slot;
            due.whenComplete((nothing, failure) -> onExecutor(() -> waited(told)));
            CompletionStage<Decision> ended = result;
            ended.whenComplete((decision, failure) -> slot.cancel(false));
        }
    }

    private void waited(Told told) {
        if (result.isDone()) {
            waiter.leave();
            giveBack(told);
        } else if (told.decision() instanceof Decision.Allowed) {
            end(told);
        } else {
            waiter.noteTime();
            ask(charges.get());
        }
    }

    private void withoutWaiting(Told told) {
        if (told.decision() instanceof Decision.Allowed) {
            BackendException failure = giveBack(told);
            List<Charge> impatient = Shaping.impatient(told.charges());
            if (failure == null) {
                ask(impatient);
            } else {
                end(store.withoutAsking(binding, impatient, failure));
            }
        } else {
            end(told);
        }
    }

    private void end(Told told) {
        waiter.leave();
        listener.accept(told);
        if (!result.complete(told.decision())) {
            giveBack(told);
        }
    }

    private @Nullable BackendException giveBack(Told told) {
        Receipt receipt = told.decision() instanceof Decision.Allowed allowed ? allowed.receipt() : Receipt.EMPTY;
        return store.giveBack(receipt);
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

    private void fail(Throwable failure) {
        waiter.leave();
        result.completeExceptionally(failure);
    }
}
