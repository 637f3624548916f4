// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.observe;

import io.weir.ratelimit.RateLimitRejected;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Logs each refusal at DEBUG, and at INFO one per policy and minute with the number since the last such line: a flood of refused
 * calls must not become a flood of lines.
 */
final class RejectionLog implements Consumer<RateLimitRejected> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.rejections");
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final Map<String, Sample> byPolicy = new ConcurrentHashMap<>();

    RejectionLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    @Override
    public void accept(RateLimitRejected event) {
        if (LOG.isLoggable(Level.DEBUG)) {
            LOG.log(
                    Level.DEBUG,
                    "refused: policy={0} endpoint={1} key={2} cost={3} retry-after={4} mode=enforce",
                    event.policy(),
                    event.endpoint(),
                    event.key(),
                    String.valueOf(event.cost()),
                    retryAfter(event));
        }
        if (LOG.isLoggable(Level.INFO)) {
            long count = byPolicy.computeIfAbsent(event.policy(), ignored -> new Sample())
                    .countToTell(nanoTime.getAsLong());
            if (count > 0) {
                LOG.log(
                        Level.INFO,
                        "WEIR-306 the policy {0} refused {1}; the last one was of {2}, key {3}, cost {4}, retry after {5}",
                        event.policy(),
                        count == 1 ? "a call" : count + " calls since it was said last",
                        event.endpoint(),
                        event.key(),
                        String.valueOf(event.cost()),
                        retryAfter(event));
            }
        }
    }

    private static String retryAfter(RateLimitRejected event) {
        return event.decision().retryAfter().map(Duration::toString).orElse("never");
    }

    /** The refusals of a policy that no line has told of. */
    private static final class Sample {
        private long untold;
        private long toldNanos;
        private boolean told;

        /** How many refusals a line is due for, this one included; 0 if none is due. */
        synchronized long countToTell(long nanos) {
            untold++;
            if (told && nanos - toldNanos < QUIET_NANOS) {
                return 0;
            }
            long count = untold;
            untold = 0;
            told = true;
            toldNanos = nanos;
            return count;
        }
    }
}
