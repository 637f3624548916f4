// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.PathRules;
import io.weir.ratelimit.interceptor.policy.Bypass;
import io.weir.ratelimit.interceptor.policy.Origin;
import io.weir.ratelimit.interceptor.policy.Policy;
import java.util.List;
import java.util.Map;

/**
 * What holds for calls at the moment. Replaced as a whole when configuration changes.
 *
 * @param policies all policies by name
 * @param costs what configuration has calls of methods spend, by {@code Class.method}
 * @param paths the policies that apply by path once a request is matched
 * @param early those that apply before
 * @param bindings the policies that annotations name
 * @param bypass who is not limited
 * @param origins where the values of policies come from, by their names
 */
record Rulebook(
        Map<String, Policy> policies,
        Map<String, Long> costs,
        PathRules paths,
        PathRules early,
        Bindings bindings,
        Bypass bypass,
        Map<String, List<Origin>> origins) {
    /** Copies the maps. */
    Rulebook {
        policies = Map.copyOf(policies);
        costs = Map.copyOf(costs);
        origins = Map.copyOf(origins);
    }

    /** The same policies, under which no call is limited. */
    Rulebook off() {
        return new Rulebook(
                policies,
                costs,
                PathRules.NONE,
                PathRules.NONE,
                new Bindings((beanClass, method) -> Binding.NONE),
                Bypass.NONE,
                origins);
    }
}
