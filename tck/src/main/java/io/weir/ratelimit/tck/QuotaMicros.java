// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The times of quotas in microseconds, the unit of the clock. */
final class QuotaMicros {
    /** The wait if no wait helps. */
    static final long NEVER = Long.MAX_VALUE;

    private QuotaMicros() {}

    static long retryAfter(Quota quota) {
        return quota.retryAfter().map(QuotaMicros::micros).orElse(NEVER);
    }

    static long resetAfter(Quota quota) {
        return micros(quota.resetAfter());
    }

    static long nextPermitAfter(Quota quota) {
        return micros(quota.nextPermitAfter());
    }

    static long blockedFor(Quota quota) {
        return micros(quota.blockedFor());
    }

    /** Completes a quota. A wait of 0 is no rejection. */
    static Quota build(Quota.Builder quota, long retryAfter, long resetAfter, long nextPermitAfter) {
        if (retryAfter == NEVER) {
            quota.rejectedForEver();
        } else if (retryAfter > 0) {
            quota.rejectedFor(duration(retryAfter));
        }
        return quota.resetAfter(duration(resetAfter))
                .nextPermitAfter(duration(nextPermitAfter))
                .build();
    }

    static Duration duration(long micros) {
        return Duration.ofNanos(micros * 1_000);
    }

    private static long micros(Duration time) {
        return TimeUnit.MICROSECONDS.convert(time);
    }
}
