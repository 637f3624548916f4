// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The current policies.
 *
 * @param origins returns the origins of the attributes of a policy
 */
public record KnownPolicies(
        Supplier<Map<String, Policy>> policies, Function<String, List<Origin>> origins, List<MethodLimits> methods) {
    /** Copies the list. */
    public KnownPolicies {
        methods = List.copyOf(methods);
    }

    /** Returns the policies as operators see them, by name. */
    List<PolicyView> views() {
        return new TreeMap<>(policies.get()).values().stream().map(this::view).toList();
    }

    private PolicyView view(Policy policy) {
        Map<String, List<String>> tiers = new TreeMap<>();
        policy.tiers().limits().forEach((tier, limits) -> tiers.put(tier, texts(limits)));
        return new PolicyView(
                policy.name(),
                policy.rollout().mode().name().toLowerCase(Locale.ROOT),
                policy.rollout().enforcePercent(),
                policy.form().algorithm().configName(),
                policy.key().toString(),
                policy.key().terms(),
                texts(policy.limits()),
                tiers,
                policy.cost(),
                policy.onFailure().configName(),
                origins.apply(policy.name()).stream()
                        .map(origin -> new PolicyView.Setting(origin.property(), origin.value(), origin.source()))
                        .toList(),
                methods.stream()
                        .filter(method -> method.isUnder(policy.name()))
                        .map(MethodLimits::endpoint)
                        .distinct()
                        .sorted()
                        .toList(),
                policy.pathRule().map(rule -> rule.text()).orElse(""));
    }

    private static List<String> texts(PolicyLimits limits) {
        return limits.limits().stream().map(KnownPolicies::text).toList();
    }

    private static String text(Limit limit) {
        return limit.fold(
                window -> window.permits() + "/" + window.windowText(),
                calendar -> calendar.permits() + "/" + calendar.period(),
                Limit::toString);
    }
}
