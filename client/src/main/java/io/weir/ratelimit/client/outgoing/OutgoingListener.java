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

    /**
     * Reports that the upstream pauses a client.
     *
     * @param client the name of the client
     * @param cause the cause
     */
    void paused(String client, Cause cause);

    /**
     * Reports that the backend has stored a pause.
     *
     * @param policy the policy under which the key is blocked
     * @param storedKey the stored key
     * @param rest the time until the end
     */
    default void stored(String policy, String storedKey, Duration rest) {}

    /**
     * Reports a retry.
     *
     * @param client the name of the client
     * @param allowed whether the retry budget allows it
     */
    void retried(String client, boolean allowed);
}
