// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A decision with its charges and its duration.
 *
 * @param nanos the time that the backend took, in nanoseconds, 0 if the backend was not called
 * @param atNanos the end of the call, by {@link System#nanoTime}
 * @param failure the reason for a degraded decision, null if the backend decided
 */
public record TimedDecision(
        List<Charge> charges,
        Decision decision,
        long nanos,
        long atNanos,
        @Nullable BackendException failure) {}
