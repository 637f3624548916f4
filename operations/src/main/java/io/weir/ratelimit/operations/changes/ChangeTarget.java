// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The policies and keys of one instance, to which runtime changes apply. */
public interface ChangeTarget {
    /** Returns the policies that exist without changes. */
    Set<String> names();

    /** Returns a policy as it is in force; empty if this instance has no valid one. */
    Optional<Policy> policy(String name);

    /** Returns the values of a policy as text; empty if this instance has no such policy. */
    Map<String, String> values(String policy);

    /**
     * Checks values over the configuration, without applying them, and the limits of single keys under the resulting policies. The limits
     * of policies that this instance does not have are left out.
     */
    Findings check(PolicyValues values, Collection<RuntimeChange> overrides);

    /** Returns the warnings about a policy with values over the configuration, without applying them; none if it is invalid. */
    List<String> warnings(PolicyValues values, String policy);

    /** Returns the configuration that was read last, another object after each change. */
    Object configuration();

    /**
     * Applies values over the configuration. Values of a policy that are invalid together are reported, and the configuration of that
     * policy applies.
     */
    void apply(PolicyValues values);

    /** Applies the limits of single keys, which the check has found to be valid. */
    void override(Map<Overrides.Subject, Map<String, String>> overrides);

    /**
     * Blocks a key in the backend for a time. Throws a {@link io.weir.ratelimit.RateLimitUnavailableException} if the backend is
     * unavailable.
     */
    void block(String policy, String storedKey, Duration length);

    /**
     * Ends the block of a key in the backend. Throws a {@link io.weir.ratelimit.RateLimitUnavailableException} if the backend is
     * unavailable.
     */
    void unblock(String policy, String storedKey);
}
