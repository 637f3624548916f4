// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The times of look-ups: an answer or a failure is not refreshed for the lifetime, and a call waits at most for the deadline for the first
 * answer.
 */
public record LookupTimes(Duration lifetime, Duration deadline, LongSupplier nanoTime) {
    long lifetimeNanos() {
        return lifetime.toNanos();
    }

    long deadlineNanos() {
        return deadline.toNanos();
    }
}
