// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The limits of one policy, all of which hold at once, with the names under which they are shown and stored. A value-based
 * class that is made once and used for every call.
 */
public final class PolicyLimits {
    /** The tier of a policy that has none, and of a caller who is in none. */
    public static final String NO_TIER = "none";

    /** The greatest {@link #lease}. */
    public static final long MAX_LEASE = 1_000_000;

    private final String policy;
    private final String tier;
    private final List<Limit> limits;
    private final long lease;
    private final List<String> names;
    private final List<String> keyTails;

    /**
     * The limits of a policy without tiers.
     *
     * @param policy the policy's name
     * @param limits one limit or more, no two of which have the same window
     * @throws IllegalArgumentException if there is no limit, or two could not be told apart in the store
     */
    public PolicyLimits(String policy, List<Limit> limits) {
        this(policy, NO_TIER, limits);
    }

    /**
     * The limits of a policy for the callers of a tier.
     *
     * @param policy the policy's name
     * @param tier the tier's name, which is shown and not stored: a key keeps its state when its tier changes
     * @param limits one limit or more, no two of which have the same window
     * @throws IllegalArgumentException if the tier has no name, there is no limit, or two could not be told apart in the store
     */
    public PolicyLimits(String policy, String tier, List<Limit> limits) {
        this.policy = Objects.requireNonNull(policy, "policy");
        this.tier = Objects.requireNonNull(tier, "tier");
        if (tier.isEmpty()) {
            throw new IllegalArgumentException("a tier needs a name");
        }
        this.limits = List.copyOf(limits);
        this.lease = 0;
        if (limits.isEmpty()) {
            throw new IllegalArgumentException("a policy needs a limit");
        }
        List<String> allNames = new ArrayList<>();
        List<String> allTails = new ArrayList<>();
        Set<Duration> windows = new HashSet<>();
        for (Limit limit : limits) {
            String tail = policy + ":" + limit.algorithm().letter() + limit.windowMicros() / 1_000;
            if (!windows.add(limit.window())) {
                throw new IllegalArgumentException("two limits have the same window " + limit.windowText());
            }
            allTails.add(tail);
            allNames.add(limits.size() == 1 ? policy : policy + "-" + limit.windowText());
        }
        this.names = List.copyOf(allNames);
        this.keyTails = List.copyOf(allTails);
    }

    private PolicyLimits(PolicyLimits other, long lease) {
        this.policy = other.policy;
        this.tier = other.tier;
        this.limits = other.limits;
        this.lease = lease;
        this.names = other.names;
        this.keyTails = other.keyTails;
    }

    /**
     * These limits with permits that an instance may take ahead.
     *
     * @param permits what {@link #lease} is to be, 0 to {@link #MAX_LEASE}
     * @return the limits
     * @throws IllegalArgumentException if the permits are out of range, or there are some and an algorithm is none of fixed window,
     *     sliding window and token bucket, or calls may wait
     */
    public PolicyLimits withLease(long permits) {
        if (permits < 0 || permits > MAX_LEASE) {
            throw new IllegalArgumentException("a lease is from 0 to " + MAX_LEASE + " permits");
        }
        if (permits > 0 && !limits.stream().allMatch(PolicyLimits::canBeTakenAhead)) {
            throw new IllegalArgumentException(
                    "permits are taken ahead of fixed-window, sliding-window and token-bucket without max-wait only");
        }
        return permits == lease ? this : new PolicyLimits(this, permits);
    }

    private static boolean canBeTakenAhead(Limit limit) {
        return limit.maxWait().isZero()
                && switch (limit.algorithm()) {
                    case FIXED_WINDOW, SLIDING_WINDOW, TOKEN_BUCKET -> true;
                    case SLIDING_LOG, LEAKY_BUCKET -> false;
                };
    }

    /**
     * The policy's name.
     *
     * @return the name
     */
    public String policy() {
        return policy;
    }

    /**
     * The tier whose limits these are.
     *
     * @return the name, {@link #NO_TIER} if the policy has no tiers or the caller is in none
     */
    public String tier() {
        return tier;
    }

    /**
     * The limits in declared order.
     *
     * @return one limit or more
     */
    public List<Limit> limits() {
        return limits;
    }

    /**
     * How many permits an instance may hold that are charged to a key and not spent yet, so that it decides from memory. A store
     * in process has no use for it.
     *
     * @return permits, 0 if each call is charged by itself
     */
    public long lease() {
        return lease;
    }

    /**
     * The end of the stored key of a limit: {@code <policy>:<algorithm letter><window in ms>}. Part of the stored format.
     *
     * @param index the limit's position
     * @return the text
     */
    public String keyTail(int index) {
        return keyTails.get(index);
    }

    /**
     * What a limit says about a key.
     *
     * @param index the limit's position
     * @param state the key's state at that instant, as {@link LimitState#at} gives it
     * @param cost permits that the call asked for
     * @param patienceMicros how long the call is ready to wait, in microseconds, 0 or more
     * @param spent whether the state is the one after the cost was spent
     * @param nowMicros the instant
     * @return the quota
     */
    public Quota quota(int index, LimitState state, long cost, long patienceMicros, boolean spent, long nowMicros) {
        Limit limit = limits.get(index);
        boolean refused = !spent && !state.admits(limit, cost, patienceMicros, nowMicros);
        long remaining = state.remaining(limit, nowMicros);
        return new Quota(
                policy,
                names.get(index),
                limit.permits(),
                limit.capacity(),
                limit.window(),
                remaining,
                refused,
                refused ? retryAfterMicros(limit, state, cost, patienceMicros, nowMicros) : 0,
                state.resetMicros(limit, nowMicros),
                remaining < limit.capacity() ? state.waitMicros(limit, remaining + 1, nowMicros) : 0);
    }

    private static long retryAfterMicros(
            Limit limit, LimitState state, long cost, long patienceMicros, long nowMicros) {
        long wait = state.waitMicros(limit, cost, nowMicros);
        return wait == Quota.NEVER ? wait : wait - limit.slotWithinMicros(patienceMicros);
    }

    @Override
    public boolean equals(Object other) {
        return other == this
                || (other instanceof PolicyLimits that
                        && policy.equals(that.policy)
                        && tier.equals(that.tier)
                        && limits.equals(that.limits)
                        && lease == that.lease);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * policy.hashCode() + tier.hashCode()) + limits.hashCode();
    }

    /** The policy's name, its tier if there is one, its limits, and its lease if there is one. */
    @Override
    public String toString() {
        return policy + (tier.equals(NO_TIER) ? "" : "/" + tier) + limits + (lease == 0 ? "" : " lease " + lease);
    }
}
