// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

/** A listener for failed look-ups of the limits of single keys. */
@FunctionalInterface
public interface SourceListener {
    /** The reason of a failure. */
    enum Failure {
        /** The application threw an exception, or its answer is invalid. */
        ERROR,
        /** The first answer was too late, so a call used the limits of the policy. */
        TIMEOUT,
        /** Too many look-ups or calls run at once. */
        BUSY
    }

    void failed(String policy, Failure failure);
}
