// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;

/**
 * The policies of a configuration by name, without those that have no valid limits or no valid key. They are complete if no other problem
 * exists, so that an absent policy is absent on purpose.
 */
public record LoadedPolicies(
        Map<String, Policy> policies,
        Map<String, List<ConfigurationProblem>> invalid,
        boolean complete,
        Map<String, List<Origin>> origins) {}
