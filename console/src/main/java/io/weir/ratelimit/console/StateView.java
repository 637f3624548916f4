// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.engine.BackendHealth;
import io.weir.ratelimit.core.operations.PolicyView;
import io.weir.ratelimit.core.operations.Reading;
import io.weir.ratelimit.interceptor.telemetry.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The state that the page shows, as a JSON object. */
final class StateView {
    private final Console console;
    private final RunningInstance instance;

    StateView(Console console, RunningInstance instance) {
        this.console = console;
        this.instance = instance;
    }

    Map<String, Object> at(Instant now) {
        List<PolicyView> policies = console.operations().policies();
        console.rates().retain(policies.stream().map(PolicyView::name).toList());
        List<Rates> all = new ArrayList<>();
        List<Object> views = new ArrayList<>();
        for (PolicyView policy : policies) {
            Rates rates = console.rates().of(policy.name());
            all.add(rates);
            Map<String, Object> view = policy(policy);
            view.put("rates", rates(rates));
            view.put("top", top(policy.name()));
            views.add(view);
        }
        Map<String, Object> state = new LinkedHashMap<>();
        state.put(
                "instance", Map.of("host", instance.host(), "started", millis(instance.started()), "now", millis(now)));
        state.put("backend", backend(console.operations().backend()));
        state.put("rates", rates(Rates.sum(all)));
        state.put("policies", views);
        state.put("reload", reload(console.operations().lastReading()));
        return state;
    }

    private static Map<String, Object> backend(BackendHealth.Report report) {
        Map<String, Object> backend = new LinkedHashMap<>();
        backend.put("name", report.backend());
        backend.put("state", report.state().text());
        backend.put("breakerOpen", report.breakerOpen());
        backend.put("probeAfterMillis", report.probeAfter().toMillis());
        backend.put("lastFailure", report.lastFailure());
        backend.put("lastFailureSecondsAgo", report.lastFailureSecondsAgo());
        backend.put("degradedDecisions", report.degradedDecisions());
        return backend;
    }

    private static Map<String, Object> rates(Rates rates) {
        Map<String, Object> outcomes = new LinkedHashMap<>();
        for (Outcome outcome : Outcome.values()) {
            Long count = rates.counts().get(outcome);
            if (count != null) {
                double perSecond = rates.recent().getOrDefault(outcome, 0L) / (double) Rates.RATE_SECONDS;
                outcomes.put(outcome.tag(), Map.of("perSecond", perSecond, "lastMinute", count));
            }
        }
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("outcomes", outcomes);
        view.put("decided", rates.decided());
        view.put("rejected", rates.rejected());
        view.put("rejectedShare", rates.rejectedShare());
        view.put("utilization", rates.utilization().map(used -> Map.of("mean", used.mean(), "max", used.max())));
        return view;
    }

    private static Map<String, Object> policy(PolicyView policy) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("name", policy.name());
        view.put("mode", policy.mode());
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

    private Map<String, Object> top(String policy) {
        TopKeys keys;
        try {
            keys = console.operations().topKeys(policy);
        } catch (IllegalArgumentException e) {
            // The policy was removed after it was listed.
            keys = new TopKeys(List.of(), List.of(), List.of(), Duration.ZERO);
        }
        return Map.of(
                "rejected", entries(keys.rejected()),
                "active", entries(keys.active()),
                "nearLimit",
                        keys.nearLimit().stream()
                                .map(near -> Map.of(
                                        "key",
                                        near.key(),
                                        "durationMillis",
                                        near.duration().toMillis()))
                                .toList(),
                "periodMillis", keys.period().toMillis());
    }

    private static List<Object> entries(List<TopKeys.Entry> entries) {
        return entries.stream()
                .<Object>map(entry -> Map.of(
                        "key", entry.key(),
                        "minCount", entry.minCount(),
                        "maxCount", entry.maxCount(),
                        "utilization", entry.utilization()))
                .toList();
    }

    private static Map<String, Object> reload(Reading reading) {
        return Map.of(
                "at", millis(reading.at()),
                "result", reading.result().name().toLowerCase(Locale.ROOT),
                "problems",
                        reading.problems().stream()
                                .map(problem -> Map.of(
                                        "id", problem.id(),
                                        "place", problem.place(),
                                        "value", problem.value(),
                                        "problem", problem.problem(),
                                        "remedy", problem.remedy()))
                                .toList());
    }

    private static long millis(Instant instant) {
        return instant.toEpochMilli();
    }
}
