// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendListener;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Logs the changes of a breaker and notifies a listener of them. The breaker calls it in order, one thread at a time. */
final class BreakerEvents {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** The shortest time between two warnings: a breaker that opens and closes all the time must not fill the log. */
    private static final long MIN_WARNING_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final BackendListener listener;
    private @Nullable Long warnedAtNanos;

    /** Whether the latest opening was logged as a warning. */
    private boolean warned;

    BreakerEvents(LongSupplier nanoTime, BackendListener listener) {
        this.nanoTime = nanoTime;
        this.listener = listener;
    }

    /** Returns why the breaker opens after failures in a row. */
    static String cause(int failures, BackendException last) {
        return failures + " calls to Redis failed in a row, the last one with "
                + last.reason().tag() + ", " + last.getMessage();
    }

    void opened(String cause, long delayNanos) {
        long now = nanoTime.getAsLong();
        warned = warnedAtNanos == null || now - warnedAtNanos >= MIN_WARNING_INTERVAL_NANOS;
        warnedAtNanos = warned ? Long.valueOf(now) : warnedAtNanos;
        if (warned) {
            MESSAGES.log("WEIR-416", cause, seconds(Duration.ofNanos(delayNanos)));
        } else {
            MESSAGES.log(Level.DEBUG, "WEIR-416", cause, seconds(Duration.ofNanos(delayNanos)));
        }
        notifyListener(true);
    }

    void closed() {
        if (warned) {
            MESSAGES.log("WEIR-418");
        } else {
            MESSAGES.log(Level.DEBUG, "WEIR-418");
        }
        notifyListener(false);
    }

    private static String seconds(Duration delay) {
        return String.valueOf(delay.toMillis() / 1e3);
    }

    private void notifyListener(boolean open) {
        try {
            listener.onBreakerChange(open);
        } catch (RuntimeException | LinkageError e) {
            LOG.log(Level.DEBUG, "The listener for changes of the breaker failed", e);
        }
    }
}
