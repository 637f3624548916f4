// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.policy.SourceListener.Failure;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The context that all look-ups of limits share.
 *
 * @param sources the sources of limits
 * @param lifetimeNanos the time for which an answer is not refreshed
 * @param deadlineNanos the longest time that a call waits for the first answer
 * @param executor returns the executor of look-ups
 * @param nanoTime a monotonic clock
 * @param listener receives failed look-ups
 * @param slots limits the number of look-ups at once, so that a flood of new keys does not reach the source
 * @param logged the policies with a logged failure
 */
record LookupContext(
        OverrideSources sources,
        long lifetimeNanos,
        long deadlineNanos,
        Supplier<Executor> executor,
        LongSupplier nanoTime,
        SourceListener listener,
        Semaphore slots,
        Set<String> logged) {
    /** The number of look-ups at once. */
    static final int MAX_LOOK_UPS = 16;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    LookupContext(
            OverrideSources sources,
            long lifetimeNanos,
            long deadlineNanos,
            Supplier<Executor> executor,
            LongSupplier nanoTime,
            SourceListener listener) {
        this(
                sources,
                lifetimeNanos,
                deadlineNanos,
                executor,
                nanoTime,
                listener,
                new Semaphore(MAX_LOOK_UPS),
                ConcurrentHashMap.newKeySet());
    }

    /** Reports a failed look-up, and logs the first one of each policy. */
    void failed(Policy policy, Throwable reason) {
        listener.failed(policy.name(), Failure.ERROR);
        if (logged.add(policy.name())) {
            MESSAGES.log(LOG, reason, "WEIR-316", policy.name());
        }
    }
}
