// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.client.outgoing.OutgoingCall.Attempt;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The attempts of one client that have not succeeded yet. A call is a retry if an equal attempt began in the last {@value
 * #LIFETIME_SECONDS} seconds and has not succeeded since. A call without a connection ends unseen, so an equal call in flight is a failed
 * one here. At most {@value #MAXIMUM} attempts are kept; a longer list loses its oldest.
 */
final class RecentAttempts {
    static final int MAXIMUM = 1_000;
    static final int LIFETIME_SECONDS = 10;

    private static final int TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private final LongSupplier nanoTime;
    private final Map<Attempt, Long> begun = new LinkedHashMap<>();

    RecentAttempts(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Tests whether a call is a retry. */
    boolean isRetry(Attempt attempt) {
        synchronized (begun) {
            Long since = begun.get(attempt);
            return since != null && nanoTime.getAsLong() - since < TimeUnit.SECONDS.toNanos(LIFETIME_SECONDS);
        }
    }

    /** Adds a call that is sent. */
    void begin(Attempt attempt) {
        synchronized (begun) {
            begun.remove(attempt);
            begun.put(attempt, nanoTime.getAsLong());
            if (begun.size() > MAXIMUM) {
                begun.remove(begun.keySet().iterator().next());
            }
        }
    }

    /** Ends a call with the status of its response. */
    void end(Attempt attempt, int status) {
        if (status < SERVER_ERROR && status != TIMEOUT && status != TOO_MANY_REQUESTS) {
            forget(attempt);
        }
    }

    /** Removes a call after which an equal call is no retry. */
    void forget(Attempt attempt) {
        synchronized (begun) {
            begun.remove(attempt);
        }
    }

    int size() {
        synchronized (begun) {
            return begun.size();
        }
    }
}
