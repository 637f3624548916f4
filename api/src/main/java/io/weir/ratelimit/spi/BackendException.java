// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.io.Serial;
import java.time.Duration;
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
        FULL("full"),
        /** The store failed too often in a row and is not asked for a while. */
        BREAKER_OPEN("breaker-open");

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
    private final Duration retryAfter;

    /**
     * A failure.
     *
     * @param reason why
     * @param message what happened, without secrets or identities
     * @param cause what the store's client threw, if anything
     */
    public BackendException(Reason reason, String message, @Nullable Throwable cause) {
        this(reason, message, cause, Duration.ZERO);
    }

    /**
     * A failure of a store that knows when it is asked again.
     *
     * @param reason why
     * @param message what happened, without secrets or identities
     * @param cause what the store's client threw, if anything
     * @param retryAfter how long until the store is asked again, zero if the next call asks
     */
    public BackendException(Reason reason, String message, @Nullable Throwable cause, Duration retryAfter) {
        // A store that is away fails thousands of calls per second: the cause has a trace where one is worth it.
        super(message, cause, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /**
     * Why the store could not decide.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * How long until the store is asked again.
     *
     * @return zero if the next call asks
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
