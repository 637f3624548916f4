// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

/** Hears of look-ups of limits that came to nothing. */
@FunctionalInterface
public interface SourceListener {
    /** Why. */
    enum Failure {
        /** The source threw, or its answer cannot be used. */
        ERROR,
        /** A call went on under the policy's own limits, because the first answer about its key was not there in time. */
        TIMEOUT,
        /** As many look-ups are under way as may be at once. */
        BUSY
    }

    /**
     * A look-up came to nothing.
     *
     * @param policy the policy's name
     * @param failure why
     */
    void failed(String policy, Failure failure);
}
