// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.time.Duration;

/** A listener for pauses and retries of REST clients. */
public interface OutgoingListener {
    /** A listener that does nothing. */
    OutgoingListener NONE = new OutgoingListener() {
        @Override
        public void paused(String client, Cause cause) {
            // Nobody listens.
        }

        @Override
        public void retried(String client, boolean allowed) {
            // Nobody listens.
        }
    };

    /** The cause of a pause. The names are values of metric tags. */
    enum Cause {
        /** An error of the upstream with a time, or a 429. */
        STATUS,
        /** A quota of the upstream without remaining calls. */
        QUOTA
    }

    /** Reports that the upstream pauses a client. */
    void paused(String client, Cause cause);

    /** Reports that the backend has stored a pause of a key under a policy, with the time until its end. */
    default void stored(String policy, String storedKey, Duration rest) {}

    /** Reports a retry, which the budget of the client allows or not. */
    void retried(String client, boolean allowed);
}
