// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The policies of this instance with the decisions of all instances, as a JSON object. */
final class PoliciesView {
    private PoliciesView() {}

    static Map<String, Object> of(Fleet fleet, Operations operations) {
        Map<String, RateTotals> rates = new HashMap<>();
        for (Fleet.Member member : fleet.reporting()) {
            member.report()
                    .rates()
                    .forEach(decided -> rates.computeIfAbsent(decided.policy(), first -> new RateTotals())
                            .add(decided));
        }
        Map<String, Long> running = running(fleet);
        Map<String, List<Drift.Deviation>> drift = Drift.of(fleet.reporting()).byPolicy();
        List<Object> policies = new ArrayList<>();
        for (PolicyView policy : operations.policies()) {
            Map<String, Object> view = policy(policy);
            view.put("drifted", drift.containsKey(policy.name()));
            view.put(
                    "rates", rates.getOrDefault(policy.name(), new RateTotals()).view(true));
            view.put("runningCalls", Optional.ofNullable(running.get(policy.name())));
            policies.add(view);
        }
        return Map.of("policies", policies);
    }

    /** Returns the running calls on all instances, for the policies with a concurrency limit. */
    private static Map<String, Long> running(Fleet fleet) {
        Map<String, Long> running = new HashMap<>();
        fleet.reporting().stream()
                .flatMap(member -> member.report().current().running().stream())
                .forEach(ofPolicy -> running.merge(ofPolicy.policy(), ofPolicy.calls(), Long::sum));
        return running;
    }

    private static Map<String, Object> policy(PolicyView policy) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("name", policy.name());
        view.put("mode", policy.mode());
        view.put("enforcePercent", policy.enforcePercent());
        view.put("algorithm", policy.algorithm());
        view.put("key", policy.key());
        view.put("keys", policy.keys());
        view.put("limits", policy.limits());
        view.put("tiers", new TreeMap<>(policy.tiers()));
        view.put("cost", policy.cost());
        view.put("onFailure", policy.onFailure());
        view.put("endpoints", policy.endpoints());
        view.put("paths", policy.paths());
        view.put(
                "settings",
                policy.settings().stream()
                        .map(setting -> Map.of(
                                "property", setting.property(), "value", setting.value(), "source", setting.source()))
                        .toList());
        return view;
    }
}
