// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.io.Serial;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A store could not decide. The failure mode of the policies takes over; a refusal is never an exception. */
public final class BackendException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Why a store could not decide. The names are used as metric tags. */
    public enum Reason {
        /** The store is still being connected to. */
        NOT_READY("not-ready"),
        /** No answer within the deadline. The call may have been charged. */
        TIMEOUT("timeout"),
        /** The store cannot be reached. */
        CONNECTION("connection"),
        /** The store answered with an error. */
        REFUSED("refused"),
        /** The key holds something that is not this library's state. Left as it is. */
        FOREIGN_STATE("foreign-state"),
        /** The bound on keys or waiting calls is reached. */
        FULL("full");

        private final String tag;

        Reason(String tag) {
            this.tag = tag;
        }

        /**
         * The reason's name in metrics and logs.
         *
         * @return the name
         */
        public String tag() {
            return tag;
        }
    }

    private final Reason reason;

    /**
     * A failure.
     *
     * @param reason why
     * @param message what happened, without secrets or identities
     * @param cause what the store's client threw, if anything
     */
    public BackendException(Reason reason, String message, @Nullable Throwable cause) {
        // A store that is away fails thousands of calls per second: the cause has a trace where one is worth it.
        super(message, cause, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /**
     * Why the store could not decide.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
