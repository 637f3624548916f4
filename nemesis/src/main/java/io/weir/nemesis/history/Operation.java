// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.history;

import java.util.Locale;

/**
 * A call of an instance, or an event that an instance has fired. Times are those of the monotonic clock of the machine, in nanoseconds.
 *
 * @param number the number of the operation, unique in a history
 * @param instance the number of the instance, from 0
 * @param policy the name of the policy
 * @param key the key of the caller
 * @param amount the cost of an acquire, the actual cost of a settlement, the nanoseconds of a block, the new limit of a change, the
 *     nanoseconds until the end of the period of a threshold, or the nanoseconds of the pause that an upstream requires
 * @param call the number of the acquire that a release, a refund or a settlement ends, of the outgoing call of an answer, or of the other
 *     part of an acquire under two policies; 0 for others
 * @param start the instant before the call
 * @param end the instant after the reply; {@link #NEVER} if the instance has ended before it replied
 * @param value the remaining permits of an allowed acquire, the seconds after which a rejected one can be repeated, the spent permits of a
 *     peek, the limit of a read, the number of a change, the percent of a threshold, or the milliseconds until the end of a key; 0 for other
 *     kinds
 * @param took the nanoseconds of the call by the clock of the instance
 * @param stalled the nanoseconds for which the threads of the instance stood still during the call
 */
public record Operation(
        long number,
        int instance,
        Kind kind,
        String policy,
        String key,
        long amount,
        long call,
        long start,
        long end,
        Outcome outcome,
        long value,
        long took,
        long stalled) {
    /** The end of an operation without a reply. */
    public static final long NEVER = Long.MAX_VALUE;

    /** The kinds of operations. */
    public enum Kind {
        ACQUIRE,
        RELEASE,
        REFUND,
        SETTLE,
        PEEK,
        BLOCK,
        UNBLOCK,
        /** An outgoing call until it is sent or rejected. */
        SEND,
        /** An answer of the upstream: a 429 if it requires a pause. */
        ANSWER,
        /** A runtime change of the limit of a policy, or its undo. */
        CHANGE,
        /** A reading of the limit in force. */
        READ,
        /** An event of a reached share of a quota. */
        THRESHOLD,
        /** An event of a penalty. */
        PENALTY,
        /** A key in Redis at the end of a run. */
        KEY
    }

    /** The results of operations. */
    public enum Outcome {
        /** The backend allowed the call. An outgoing call is sent. */
        ALLOWED,
        /** A limit rejected the call. */
        REJECTED,
        /** A block rejected the call. */
        BLOCKED,
        /** The failure mode allowed the call. */
        DEGRADED_ALLOWED,
        /** The failure mode rejected the call. */
        DEGRADED_REJECTED,
        /** An operation other than an acquire was done. */
        DONE,
        /** The backend did not answer: it is unknown whether the operation was done. */
        FAILED,
        /** The instance ended before it replied: nothing is known. */
        LOST,
        /** The call threw an exception that no document names. */
        BROKEN
    }

    /** Returns whether the result is unknown, so that the operation can have had its effect, also later. */
    public boolean isUnknown() {
        return switch (outcome) {
            case DEGRADED_ALLOWED, DEGRADED_REJECTED, FAILED, LOST, BROKEN -> true;
            default -> false;
        };
    }

    /** Returns whether this is one of the two parts of an acquire under two policies. */
    public boolean isJoint() {
        return kind == Kind.ACQUIRE && call != 0;
    }

    /** Returns the key together with its policy. */
    public String subject() {
        return policy + "/" + key;
    }

    /** Returns a line for people, with times since an instant. */
    public String describe(long origin) {
        return String.format(
                Locale.ROOT,
                "operation %d of instance %d: %s %s amount=%d call=%d -> %s value=%d, from %.4f s to %s",
                number,
                instance,
                kind,
                subject(),
                amount,
                call,
                outcome,
                value,
                (start - origin) / 1e9,
                end == NEVER ? "never" : String.format(Locale.ROOT, "%.4f s", (end - origin) / 1e9));
    }
}
