// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The state of one limit for one key at the instant of a decision. A value-based class, which a backend creates by a {@link Builder}. */
public final class Quota implements Serializable {
    private static final long serialVersionUID = 1;

    /** The kinds of permits of a limit. */
    public enum Kind {
        /** Permits per window. */
        WINDOW,
        /** Permits per period of the calendar. */
        CALENDAR,
        /** Calls that may run at once. */
        CONCURRENCY
    }

    private final String policy;
    private final String name;
    private final Kind kind;
    private final long permits;
    private final long capacity;
    private final Duration window;
    private final long remaining;
    private final boolean rejected;

    /** Null if no wait helps. */
    private final @Nullable Duration retryAfter;

    private final Duration resetAfter;
    private final Duration nextPermitAfter;
    private final @Nullable ZonedDateTime periodEnd;
    private final Duration blockedFor;

    private Quota(Builder builder) {
        this.policy = builder.policy;
        this.name = builder.name;
        this.kind = builder.kind;
        this.permits = builder.permits;
        this.capacity = builder.capacity;
        this.window = builder.window;
        this.remaining = builder.remaining;
        this.rejected = builder.rejected;
        this.retryAfter = builder.retryAfter;
        this.resetAfter = builder.resetAfter;
        this.nextPermitAfter = builder.nextPermitAfter;
        this.periodEnd = builder.periodEnd;
        this.blockedFor = builder.blockedFor;
    }

    /**
     * Returns a builder of the quota of an untouched key.
     *
     * @param policy the name of the policy to which the limit belongs
     * @param name the name of the limit: the name of the policy, or {@code <policy>-<window>} if the policy has several limits, such as
     *     {@code api-1m} or {@code api-month}
     * @return the builder of a quota of {@link Kind#WINDOW} without permits
     */
    public static Builder builder(String policy, String name) {
        return new Builder(policy, name);
    }

    /**
     * Returns a builder with the values of this quota.
     *
     * @return the builder
     */
    public Builder toBuilder() {
        Builder builder = new Builder(policy, name);
        builder.kind = kind;
        builder.permits = permits;
        builder.capacity = capacity;
        builder.window = window;
        builder.remaining = remaining;
        builder.rejected = rejected;
        builder.retryAfter = retryAfter;
        builder.resetAfter = resetAfter;
        builder.nextPermitAfter = nextPermitAfter;
        builder.periodEnd = periodEnd;
        builder.blockedFor = blockedFor;
        return builder;
    }

    /**
     * Returns the quota with the smallest ratio of remaining permits to capacity. If several have the same ratio, the first one is
     * returned.
     *
     * @param quotas one quota or more
     * @return one of the quotas
     */
    public static Quota closestToExhaustion(List<Quota> quotas) {
        Quota closest = quotas.get(0);
        for (Quota quota : quotas) {
            if (quota.remainingRatio() < closest.remainingRatio()) {
                closest = quota;
            }
        }
        return closest;
    }

    /**
     * Returns the name of the policy to which the limit belongs.
     *
     * @return the name
     */
    public String policy() {
        return policy;
    }

    /**
     * Returns the name of the limit.
     *
     * @return the name of the policy, or {@code <policy>-<window>} if the policy has several limits
     */
    public String name() {
        return name;
    }

    /**
     * Returns what the permits of the limit are.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the permits per window or period, or the calls that may run at once.
     *
     * @return the permits, 0 or more
     */
    public long permits() {
        return permits;
    }

    /**
     * Returns the greatest number of permits that are available at once: the burst of a bucket, otherwise the permits.
     *
     * @return the permits, 0 or more
     */
    public long capacity() {
        return capacity;
    }

    /**
     * Returns the length of the window, or of the current period of the calendar.
     *
     * @return the length; zero for a concurrency limit, which has no window
     */
    public Duration window() {
        return window;
    }

    /**
     * Returns the permits that a call can spend at that instant.
     *
     * @return the permits, 0 or more; 0 if the key is blocked
     */
    public long remaining() {
        return remaining;
    }

    /**
     * Tests whether the limit rejected the call.
     *
     * @return true if the limit rejected the call
     */
    public boolean rejected() {
        return rejected;
    }

    /**
     * Returns the shortest wait after which the same cost is allowed if no other call spends permits. For a concurrency limit it is a
     * recommendation of one second at most, because the end of a call is unknown.
     *
     * @return the wait: zero if the limit did not reject the call, empty if the cost exceeds the capacity, so that no wait helps
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /**
     * Returns the time until the key equals an untouched key.
     *
     * @return the time; zero for an untouched key
     */
    public Duration resetAfter() {
        return resetAfter;
    }

    /**
     * Returns the time until {@link #remaining} first increases.
     *
     * @return the time; zero if the remaining permits equal the capacity
     */
    public Duration nextPermitAfter() {
        return nextPermitAfter;
    }

    /**
     * Returns the end of the period of a calendar limit.
     *
     * @return the end in the time zone of the limit; empty for the other kinds
     */
    public Optional<ZonedDateTime> periodEnd() {
        return Optional.ofNullable(periodEnd);
    }

    /**
     * Tests whether the key is {@linkplain RateLimiter#block blocked} under the policy.
     *
     * @return true if the key is blocked
     */
    public boolean blocked() {
        return !blockedFor.isZero();
    }

    /**
     * Returns the time until the block of the key ends.
     *
     * @return the time; zero if the key is not blocked under the policy
     */
    public Duration blockedFor() {
        return blockedFor;
    }

    /** Returns 0 for a limit without permits. */
    private double remainingRatio() {
        return capacity == 0 ? 0 : (double) remaining / capacity;
    }

    @Override
    public boolean equals(Object other) {
        return other == this
                || (other instanceof Quota that
                        && policy.equals(that.policy)
                        && name.equals(that.name)
                        && kind == that.kind
                        && permits == that.permits
                        && capacity == that.capacity
                        && window.equals(that.window)
                        && remaining == that.remaining
                        && rejected == that.rejected
                        && Objects.equals(retryAfter, that.retryAfter)
                        && resetAfter.equals(that.resetAfter)
                        && nextPermitAfter.equals(that.nextPermitAfter)
                        && Objects.equals(periodEnd, that.periodEnd)
                        && blockedFor.equals(that.blockedFor));
    }

    @Override
    public int hashCode() {
        return Objects.hash(policy, name, permits, remaining, rejected, retryAfter, resetAfter);
    }

    @Override
    public String toString() {
        return "Quota[" + name + " of " + policy + ", " + kind + " " + permits + "/" + window + ", capacity=" + capacity
                + ", remaining=" + remaining + ", rejected=" + rejected + ", retryAfter=" + retryAfter + ", resetAfter="
                + resetAfter + ", nextPermitAfter=" + nextPermitAfter + ", periodEnd=" + periodEnd + ", blockedFor="
                + blockedFor + "]";
    }

    /** A builder of a quota. */
    public static final class Builder {
        private final String policy;
        private final String name;
        private Kind kind = Kind.WINDOW;
        private long permits;
        private long capacity;
        private Duration window = Duration.ZERO;
        private long remaining;
        private boolean rejected;
        private @Nullable Duration retryAfter = Duration.ZERO;
        private Duration resetAfter = Duration.ZERO;
        private Duration nextPermitAfter = Duration.ZERO;
        private @Nullable ZonedDateTime periodEnd;
        private Duration blockedFor = Duration.ZERO;

        private Builder(String policy, String name) {
            this.policy = Objects.requireNonNull(policy, "policy");
            this.name = Objects.requireNonNull(name, "name");
        }

        /**
         * Sets a limit with a window, whose capacity and remaining permits are the permits.
         *
         * @param perWindow the permits per window, 0 or more
         * @param length the length of the window
         * @return this builder
         */
        public Builder window(long perWindow, Duration length) {
            return limit(Kind.WINDOW, perWindow, length, null);
        }

        /**
         * Sets a calendar limit, whose capacity and remaining permits are the permits.
         *
         * @param perPeriod the permits per period, 0 or more
         * @param length the length of the current period
         * @param end the end of the current period, in the time zone of the limit
         * @return this builder
         */
        public Builder calendar(long perPeriod, Duration length, ZonedDateTime end) {
            return limit(Kind.CALENDAR, perPeriod, length, Objects.requireNonNull(end, "end"));
        }

        /**
         * Sets a concurrency limit, whose capacity and remaining permits are the calls.
         *
         * @param calls the calls that may run at once, 0 or more
         * @return this builder
         */
        public Builder concurrency(long calls) {
            return limit(Kind.CONCURRENCY, calls, Duration.ZERO, null);
        }

        private Builder limit(Kind newKind, long newPermits, Duration length, @Nullable ZonedDateTime end) {
            kind = newKind;
            permits = notNegative(newPermits);
            capacity = newPermits;
            remaining = newPermits;
            window = notNegative(length);
            periodEnd = end;
            return this;
        }

        /**
         * Sets the greatest number of permits that are available at once: the burst of a bucket.
         *
         * @param burst the permits, 0 or more
         * @return this builder
         */
        public Builder capacity(long burst) {
            capacity = notNegative(burst);
            return this;
        }

        /**
         * Sets the permits that a call can spend.
         *
         * @param left the permits, 0 or more
         * @return this builder
         */
        public Builder remaining(long left) {
            remaining = notNegative(left);
            return this;
        }

        /**
         * Lets the limit reject the call.
         *
         * @param wait the wait after which the same cost is allowed, zero or more
         * @return this builder
         */
        public Builder rejectedFor(Duration wait) {
            rejected = true;
            retryAfter = notNegative(wait);
            return this;
        }

        /**
         * Lets the limit reject the call because the cost exceeds the capacity, so that no wait helps.
         *
         * @return this builder
         */
        public Builder rejectedForEver() {
            rejected = true;
            retryAfter = null;
            return this;
        }

        /**
         * Sets the time until the key equals an untouched key.
         *
         * @param time the time, zero or more
         * @return this builder
         */
        public Builder resetAfter(Duration time) {
            resetAfter = notNegative(time);
            return this;
        }

        /**
         * Sets the time until the remaining permits first increase.
         *
         * @param time the time, zero or more
         * @return this builder
         */
        public Builder nextPermitAfter(Duration time) {
            nextPermitAfter = notNegative(time);
            return this;
        }

        /**
         * Sets the time until the block of the key ends.
         *
         * @param time the time; zero if the key is not blocked
         * @return this builder
         */
        public Builder blockedFor(Duration time) {
            blockedFor = notNegative(time);
            return this;
        }

        private long notNegative(long number) {
            if (number < 0) {
                throw negative();
            }
            return number;
        }

        private Duration notNegative(Duration time) {
            if (time.isNegative()) {
                throw negative();
            }
            return time;
        }

        private IllegalArgumentException negative() {
            return new IllegalArgumentException("negative value in the quota of " + name);
        }

        /**
         * Creates the quota.
         *
         * @return the quota
         */
        public Quota build() {
            return new Quota(this);
        }
    }
}
