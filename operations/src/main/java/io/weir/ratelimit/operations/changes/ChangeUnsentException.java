// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

/** An exception for a change that was not sent to the store, because the store is unavailable. Nothing is changed. */
public final class ChangeUnsentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with a {@linkplain io.weir.ratelimit.RateLimitUnavailableException#reason() reason}. */
    public ChangeUnsentException(String reason) {
        super(reason);
    }
}
