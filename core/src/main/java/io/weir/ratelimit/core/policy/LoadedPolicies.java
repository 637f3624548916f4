// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.Origin;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The policies of a configuration.
 *
 * @param policies the policies by name, without those that have no valid limits or no valid key
 * @param invalid the names of the policies that have a problem
 * @param complete whether no other problem exists, so that an absent policy is absent on purpose
 * @param origins the origins of the attributes of each policy
 */
public record LoadedPolicies(
        Map<String, Policy> policies, Set<String> invalid, boolean complete, Map<String, List<Origin>> origins) {}
