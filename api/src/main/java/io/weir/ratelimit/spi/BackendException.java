// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.io.Serial;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The exception of a backend that cannot decide. The failure mode of each policy then decides the call. A rejection is a {@link
 * io.weir.ratelimit.Decision} and never an exception.
 */
public final class BackendException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The reason why a backend cannot decide. The {@link #tag()} is a metric tag and part of log messages. */
    public enum Reason {
        /** The backend is not connected yet. */
        NOT_READY("not-ready"),
        /** The backend did not answer within the deadline. The call may be charged. */
        TIMEOUT("timeout"),
        /** The connection to the backend failed. */
        CONNECTION("connection"),
        /** The backend answered with an error. */
        BACKEND_ERROR("backend-error"),
        /** The stored key has a value that is not the state of a limit. The backend leaves the value unchanged. */
        FOREIGN_STATE("foreign-state"),
        /** The maximum number of keys or of queued requests is reached. */
        FULL("full"),
        /** The breaker is open after too many consecutive failures, so the backend is not called. */
        BREAKER_OPEN("breaker-open");

        private final String tag;

        Reason(String tag) {
            this.tag = tag;
        }

        /**
         * Returns the name of the reason in metrics and log messages.
         *
         * @return the name, such as {@code timeout}
         */
        public String tag() {
            return tag;
        }
    }

    private final Reason reason;
    private final Duration retryAfter;

    /**
     * Creates an exception without a known time for a retry.
     *
     * @param reason the reason
     * @param message a description of the failure, without secrets and stored keys
     * @param cause the exception of the client of the backend, or null
     */
    public BackendException(Reason reason, String message, @Nullable Throwable cause) {
        this(reason, message, cause, Duration.ZERO);
    }

    /**
     * Creates an exception.
     *
     * @param reason the reason
     * @param message a description of the failure, without secrets and stored keys
     * @param cause the exception of the client of the backend, or null
     * @param retryAfter the time until the backend is called again; zero if the next request calls it
     */
    public BackendException(Reason reason, String message, @Nullable Throwable cause, Duration retryAfter) {
        // An unavailable backend fails thousands of calls per second, so this exception has no stack trace of its own.
        super(message, cause, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /**
     * Returns the reason.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Returns the time until the backend is called again.
     *
     * @return the time; zero if the next request calls the backend
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
