// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Quota;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A builder of a {@link Quota}.
 *
 * <pre>{@code
 * Quota quota = QuotaBuilder.quota("hello").limit(5, Duration.ofSeconds(10)).remaining(2).build();
 * }</pre>
 */
public final class QuotaBuilder {
    private final String policy;
    private String name;
    private long permits = 1;
    private Duration window = Duration.ofSeconds(1);
    private @Nullable Long capacity;
    private @Nullable Long remaining;
    private boolean rejected;
    private @Nullable Duration retryAfter = Duration.ZERO;
    private @Nullable Duration resetAfter;

    private QuotaBuilder(String policy) {
        this.policy = policy;
        this.name = policy;
    }

    /**
     * Creates a builder of the quota of an untouched key with one permit per second.
     *
     * @param policy the name of the policy, which is also the name of the limit
     * @return the builder
     */
    public static QuotaBuilder quota(String policy) {
        return new QuotaBuilder(policy);
    }

    /**
     * Sets the name of the limit, if the policy has several.
     *
     * @param limit the name, such as {@code api-1m}
     * @return this builder
     */
    public QuotaBuilder name(String limit) {
        name = limit;
        return this;
    }

    /**
     * Sets the limit.
     *
     * @param newPermits the permits per window, 0 or more
     * @param newWindow the length of the window
     * @return this builder
     */
    public QuotaBuilder limit(long newPermits, Duration newWindow) {
        permits = newPermits;
        window = newWindow;
        return this;
    }

    /**
     * Sets the capacity of a bucket, by default the permits.
     *
     * @param burst the capacity, 0 or more
     * @return this builder
     */
    public QuotaBuilder capacity(long burst) {
        capacity = burst;
        return this;
    }

    /**
     * Sets the remaining permits, by default the capacity, or 0 after a rejection.
     *
     * @param left the permits, 0 or more
     * @return this builder
     */
    public QuotaBuilder remaining(long left) {
        remaining = left;
        return this;
    }

    /**
     * Sets the time until the key equals an untouched key, by default the window if permits are spent.
     *
     * @param time the time, zero or more
     * @return this builder
     */
    public QuotaBuilder resetAfter(Duration time) {
        resetAfter = time;
        return this;
    }

    /**
     * Lets the limit reject the call.
     *
     * @param retryAfter the time after which the same cost is allowed, more than zero
     * @return this builder
     */
    public QuotaBuilder rejectedFor(Duration retryAfter) {
        if (retryAfter.isNegative() || retryAfter.isZero()) {
            throw new IllegalArgumentException("a rejection ends after more than zero");
        }
        rejected = true;
        this.retryAfter = retryAfter;
        return this;
    }

    /**
     * Lets the limit reject the call because the cost exceeds its capacity, so that no wait helps.
     *
     * @return this builder
     */
    public QuotaBuilder rejectedForEver() {
        rejected = true;
        retryAfter = null;
        return this;
    }

    /**
     * Creates the quota.
     *
     * @return the quota
     * @throws IllegalArgumentException if a number or a time is negative
     */
    public Quota build() {
        long most = capacity == null ? permits : capacity;
        long left = remaining != null ? remaining : rejected ? 0 : most;
        Duration wait = retryAfter;
        Duration longest = wait == null || window.compareTo(wait) > 0 ? window : wait;
        Duration reset = resetAfter != null ? resetAfter : left < most || rejected ? longest : Duration.ZERO;
        Quota.Builder quota = Quota.builder(policy, name)
                .window(permits, window)
                .capacity(most)
                .remaining(left)
                .resetAfter(reset);
        if (left < most) {
            quota.nextPermitAfter(rejected && wait != null && wait.compareTo(reset) < 0 ? wait : reset);
        }
        if (rejected) {
            return (wait == null ? quota.rejectedForEver() : quota.rejectedFor(wait)).build();
        }
        return quota.build();
    }
}
