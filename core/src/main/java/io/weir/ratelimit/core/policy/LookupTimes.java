// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The times of look-ups.
 *
 * @param lifetime the time for which an answer or a failure is not refreshed
 * @param deadline the longest time that a call waits for the first answer
 * @param nanoTime a monotonic clock
 */
public record LookupTimes(Duration lifetime, Duration deadline, LongSupplier nanoTime) {
    long lifetimeNanos() {
        return lifetime.toNanos();
    }

    long deadlineNanos() {
        return deadline.toNanos();
    }
}
