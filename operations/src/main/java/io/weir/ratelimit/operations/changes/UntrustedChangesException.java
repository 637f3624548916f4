// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

/** An exception for a content of the store that this instance does not use. */
public final class UntrustedChangesException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with the reason in a few words, without contents. */
    public UntrustedChangesException(String reason) {
        super(reason);
    }
}
