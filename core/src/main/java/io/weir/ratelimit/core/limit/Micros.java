// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The times of quotas in microseconds, the unit of states. */
public final class Micros {
    /** The wait if the cost exceeds the capacity of the limit, so that no wait helps. */
    public static final long NEVER = Long.MAX_VALUE;

    private Micros() {}

    public static long of(Duration time) {
        return TimeUnit.MICROSECONDS.convert(time);
    }

    public static Duration duration(long micros) {
        return micros == 0 ? Duration.ZERO : Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
    }

    /** Returns the wait of a quota, {@link #NEVER} if no wait helps. */
    public static long retryAfter(Quota quota) {
        return quota.retryAfter().map(Micros::of).orElse(NEVER);
    }

    public static long resetAfter(Quota quota) {
        return of(quota.resetAfter());
    }

    public static long nextPermitAfter(Quota quota) {
        return of(quota.nextPermitAfter());
    }

    public static long blockedFor(Quota quota) {
        return of(quota.blockedFor());
    }

    /** Lets a limit reject the call with a wait, which can be {@link #NEVER}. */
    public static Quota.Builder rejectedFor(Quota.Builder quota, long waitMicros) {
        return waitMicros == NEVER ? quota.rejectedForEver() : quota.rejectedFor(duration(waitMicros));
    }
}
