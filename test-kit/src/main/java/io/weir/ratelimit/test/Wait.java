// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A wait that ends when the virtual clock reaches an instant.
 *
 * @param dueNanos the instant, in nanoseconds of the monotonic clock
 * @param order the order among waits that end at the same instant
 * @param end completes at the end of the wait
 * @param thread the thread that waits, null for a timer
 * @param ofCall whether a call waits for permits
 */
record Wait(
        long dueNanos,
        long order,
        CompletableFuture<Void> end,
        @Nullable Thread thread,
        boolean ofCall) {
    static final Comparator<Wait> ORDER =
            Comparator.comparingLong(Wait::dueNanos).thenComparing(Wait::order);
}
