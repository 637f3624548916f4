// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

/** Hears of what came of reading changed configuration again. */
@FunctionalInterface
public interface ReloadListener {
    /** What came of it. */
    enum Result {
        /** All of the change holds. */
        APPLIED,
        /** Some of it is wrong, and what held before still does. */
        INVALID,
        /** A source of configuration threw, and all is as before. */
        FAILED
    }

    /**
     * Configuration was read again.
     *
     * @param result what came of it
     */
    void reloaded(Result result);
}
