// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call that starts once a probe has shown that Redis is available. It fails if the probe fails. */
final class ProbedCall<T> implements PendingCall<T> {
    private final PendingCall<?> probe;
    private final CompletableFuture<?> probed;
    private final Supplier<PendingCall<T>> next;
    private final CompletableFuture<T> completion;
    private volatile @Nullable PendingCall<T> started;
    private volatile @Nullable BackendException cancelled;

    /**
     * Creates a call.
     *
     * @param probe the probe, which is sent and watched already
     * @param probed completes as the probe does, once the breaker knows its outcome
     */
    ProbedCall(PendingCall<?> probe, CompletableFuture<?> probed, Supplier<PendingCall<T>> next) {
        this.probe = probe;
        this.probed = probed;
        this.next = next;
        this.completion = probed.thenCompose(reply -> start());
    }

    private CompletableFuture<T> start() {
        BackendException reason = cancelled;
        if (reason != null) {
            return CompletableFuture.failedFuture(reason);
        }
        PendingCall<T> call = next.get();
        started = call;
        reason = cancelled;
        if (reason != null) {
            call.cancel(reason);
        }
        return call.completion().thenApply(done -> call.result());
    }

    @Override
    public CompletableFuture<T> completion() {
        return completion;
    }

    @Override
    public T result() {
        return completion.join();
    }

    @Override
    public long deadlineNanos() {
        return probe.deadlineNanos();
    }

    /** Cancels the call. Before its deadline the probe goes on, since its outcome is of use to other calls. */
    @Override
    public void cancel(BackendException reason) {
        cancelled = reason;
        PendingCall<T> call = started;
        if (call != null) {
            call.cancel(reason);
        } else if (deadlineNanos() - System.nanoTime() <= 0) {
            probe.cancel(reason);
            // Another thread may have completed the probe just now. Its outcome must be known when this returns.
            probed.handle((reply, failure) -> true).join();
        }
    }
}
