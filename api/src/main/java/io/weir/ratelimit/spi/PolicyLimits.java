// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The limits of one policy, which apply together, and their names in quotas. A value-based class that is created once
 * and used for every call.
 */
public final class PolicyLimits {
    /** The tier of a policy without tiers, and of a caller without a tier. */
    public static final String NO_TIER = "none";

    /** The greatest value of {@link #lease}. */
    public static final long MAX_LEASE = 1_000_000;

    private final String policy;
    private final String tier;
    private final List<Limit> limits;
    private final long lease;
    private final List<String> names;
    private final int concurrency;

    /**
     * Creates the limits of a policy without tiers.
     *
     * @param policy the name of the policy
     * @param limits one limit or more, each with a different window
     * @throws IllegalArgumentException if there is no limit, or if two limits have the same window
     */
    public PolicyLimits(String policy, List<? extends Limit> limits) {
        this(policy, NO_TIER, limits);
    }

    /**
     * Creates the limits of a policy for the callers of a tier.
     *
     * @param policy the name of the policy
     * @param tier the name of the tier. It is not part of stored keys, so a key keeps its state when its tier changes
     * @param limits one limit or more, each with a different window
     * @throws IllegalArgumentException if the name of the tier is empty, if there is no limit, or if two limits have the same window
     */
    public PolicyLimits(String policy, String tier, List<? extends Limit> limits) {
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
        Set<String> windows = new HashSet<>();
        int slots = -1;
        for (Limit limit : limits) {
            if (limit instanceof ConcurrencyLimit) {
                slots = allNames.size();
            }
            if (!windows.add(limit.windowText())) {
                throw new IllegalArgumentException("two limits have the same window " + limit.windowText());
            }
            allNames.add(limits.size() == 1 ? policy : policy + "-" + limit.windowText());
        }
        this.names = List.copyOf(allNames);
        this.concurrency = slots;
    }

    private PolicyLimits(PolicyLimits other, long lease) {
        this.policy = other.policy;
        this.tier = other.tier;
        this.limits = other.limits;
        this.lease = lease;
        this.names = other.names;
        this.concurrency = other.concurrency;
    }

    private PolicyLimits(PolicyLimits other, int without) {
        this.policy = other.policy;
        this.tier = other.tier;
        this.lease = 0;
        this.limits = without(other.limits, without);
        this.names = without(other.names, without);
        this.concurrency = -1;
    }

    private static <T> List<T> without(List<T> list, int index) {
        List<T> rest = new ArrayList<>(list);
        rest.remove(index);
        return List.copyOf(rest);
    }

    /**
     * Returns these limits with a lease.
     *
     * @param permits the value of {@link #lease}, 0 to {@link #MAX_LEASE}
     * @return the limits
     * @throws IllegalArgumentException if the permits are out of range, or if they are greater than 0 and a limit cannot be leased. A
     *     limit can be leased if it has no {@code max-wait}, is no calendar limit and no concurrency limit, and its algorithm is fixed
     *     window, sliding window or token bucket
     */
    public PolicyLimits withLease(long permits) {
        if (permits < 0 || permits > MAX_LEASE) {
            throw new IllegalArgumentException("a lease is from 0 to " + MAX_LEASE + " permits");
        }
        if (permits > 0 && !limits.stream().allMatch(PolicyLimits::canBeLeased)) {
            throw new IllegalArgumentException(
                    "a lease requires fixed-window, sliding-window or token-bucket without max-wait, no calendar limit and no concurrency");
        }
        return permits == lease ? this : new PolicyLimits(this, permits);
    }

    private static boolean canBeLeased(Limit limit) {
        return limit.maxWait().isZero()
                && limit instanceof WindowLimit window
                && switch (window.algorithm()) {
                    case FIXED_WINDOW, SLIDING_WINDOW, TOKEN_BUCKET -> true;
                    case SLIDING_LOG, LEAKY_BUCKET -> false;
                };
    }

    /**
     * Returns the name of the policy.
     *
     * @return the name
     */
    public String policy() {
        return policy;
    }

    /**
     * Returns the tier of these limits.
     *
     * @return the name; {@link #NO_TIER} if the policy has no tiers or the caller has no tier
     */
    public String tier() {
        return tier;
    }

    /**
     * Returns the limits in declared order.
     *
     * @return one limit or more
     */
    public List<Limit> limits() {
        return limits;
    }

    /**
     * Tests whether a call takes a slot.
     *
     * @return true if one of the limits is a concurrency limit
     */
    public boolean hasConcurrency() {
        return concurrency >= 0;
    }

    /**
     * Returns the position of the concurrency limit.
     *
     * @return the position in {@link #limits()}; -1 if there is no such limit
     */
    public int concurrencyIndex() {
        return concurrency;
    }

    /**
     * Returns these limits without the concurrency limit, for a charge of a call that has its slot already. The other limits keep their
     * names.
     *
     * @return the limits; empty if the concurrency limit is the only one
     */
    public Optional<PolicyLimits> withoutConcurrency() {
        if (concurrency < 0) {
            return Optional.of(this);
        }
        return limits.size() == 1 ? Optional.empty() : Optional.of(new PolicyLimits(this, concurrency));
    }

    /**
     * Returns the number of permits of a key that an instance may lease. Leased permits are charged to the key and not yet spent, so that
     * the instance decides from memory. A backend without shared state ignores this value.
     *
     * @return the permits; 0 if each call is charged separately
     */
    public long lease() {
        return lease;
    }

    /**
     * Returns the name of a limit in quotas and header fields: the name of the policy, followed by {@code -<window>} if the policy has
     * several limits.
     *
     * @param index the position of the limit
     * @return the name, such as {@code api-1m}
     */
    public String limitName(int index) {
        return names.get(index);
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

    /** Returns the name of the policy, the tier if there is one, the limits, and the lease if it is not 0. */
    @Override
    public String toString() {
        return policy + (tier.equals(NO_TIER) ? "" : "/" + tier) + limits + (lease == 0 ? "" : " lease " + lease);
    }
}
