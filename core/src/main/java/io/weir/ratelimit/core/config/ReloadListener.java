// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

/** A listener for reloads of a changed configuration. */
@FunctionalInterface
public interface ReloadListener {
    /** The result of a reload. */
    enum Result {
        /** The whole change applies. */
        APPLIED,
        /** Parts of the change are invalid, and the previous values apply to them. */
        INVALID,
        /** A configuration source threw an exception, and nothing changes. */
        FAILED
    }

    /** Receives the result of a reload. */
    void reloaded(Result result);
}
