// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stage that a caller receives for the work of a limited method. The end of the work is reported before the caller sees it, because
 * the next call of a chain needs the slot. Each other end, such as a cancellation or a timeout, ends the work.
 */
final class LaterResult {
    private LaterResult() {}

    /** Returns the stage of the caller: the work itself if it has ended or the type allows no other. Reports the outcome once. */
    static CompletionStage<?> of(CompletionStage<?> work, Class<?> type, Consumer<Boolean> ended) {
        CompletableFuture<?> future = future(work);
        if (future != null && future.isDone()) {
            ended.accept(!future.isCompletedExceptionally());
            return work;
        }
        CompletableFuture<Object> result = future == work ? successor(future) : new CompletableFuture<>();
        if (!type.isInstance(result)) {
            work.whenComplete((value, failure) -> ended.accept(failure == null));
            return work;
        }
        join(work, future, result, ended);
        return result;
    }

    /** Lets a stage that the caller already has end with the work, and the work with the stage. */
    static void follow(CompletionStage<?> work, CompletableFuture<Object> result) {
        join(work, future(work), result, succeeded -> {});
    }

    private static void join(
            CompletionStage<?> work,
            @Nullable CompletableFuture<?> future,
            CompletableFuture<Object> result,
            Consumer<Boolean> ended) {
        work.whenComplete((value, failure) -> {
            ended.accept(failure == null);
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        });
        if (future != null) {
            CompletionStage<Object> left = result;
            left.whenComplete((value, failure) -> end(future, value, failure));
        }
    }

    @SuppressWarnings("unchecked") // the caller has a stage of the same type
    private static void end(CompletableFuture<?> work, @Nullable Object value, @Nullable Throwable failure) {
        if (work.isDone()) {
            return;
        }
        if (failure == null) {
            ((CompletableFuture<Object>) work).complete(value);
        } else if (failure instanceof CancellationException) {
            work.cancel(true);
        } else {
            work.completeExceptionally(failure);
        }
    }

    /** Returns the future by which a caller can end a stage, null if the stage has none. */
    private static @Nullable CompletableFuture<?> future(CompletionStage<?> work) {
        try {
            return work.toCompletableFuture();
        } catch (UnsupportedOperationException e) {
            return null;
        }
    }

    /** Returns an incomplete future of the same kind, for example one with the context of a managed executor; null if it cannot end. */
    private static @Nullable CompletableFuture<Object> successor(CompletableFuture<?> work) {
        try {
            CompletableFuture<Object> successor = work.newIncompleteFuture();
            if (successor.getClass() != CompletableFuture.class) {
                work.newIncompleteFuture().complete(null);
            }
            return successor;
        } catch (UnsupportedOperationException e) {
            return null;
        }
    }
}
