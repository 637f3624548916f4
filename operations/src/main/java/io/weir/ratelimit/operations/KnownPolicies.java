// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The policies of a limiter, with the methods that its host found at its start. */
record KnownPolicies(HostedWeir weir, List<MethodLimits> methods) {
    /** Returns the policies as operators see them, by name. */
    List<PolicyView> views() {
        return new TreeMap<>(weir.policies().policies())
                .values().stream().map(this::view).toList();
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
                weir.policies().origins(policy.name()).stream()
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
