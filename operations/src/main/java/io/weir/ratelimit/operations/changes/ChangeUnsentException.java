// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

/** An exception for a change that was not sent to the store, because the store is unavailable. Nothing is changed. */
public final class ChangeUnsentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param reason why the store is unavailable, as in {@link io.weir.ratelimit.RateLimitUnavailableException#reason()}
     */
    public ChangeUnsentException(String reason) {
        super(reason);
    }
}
