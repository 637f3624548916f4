// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

/** An exception for a change that another operator's change precedes. The author has not seen the other change. */
public final class ChangeConflictException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates an exception. */
    public ChangeConflictException() {
        super("another change was made since the page was read");
    }
}
