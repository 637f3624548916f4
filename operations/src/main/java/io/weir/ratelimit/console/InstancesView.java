// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.Operations;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The instances, their differences and the sums of the fleet, as a JSON object. */
final class InstancesView {
    /** The greatest number of differences. */
    static final int MAX_DIFFERENCES = 500;

    private InstancesView() {}

    static Map<String, Object> of(Fleet fleet, Operations operations, Instant now) {
        List<Fleet.Member> reporting = fleet.reporting();
        Drift drift = Drift.of(reporting);
        RateTotals all = new RateTotals();
        List<Object> instances = new ArrayList<>();
        for (Fleet.Member member : fleet.members()) {
            RateTotals rates = new RateTotals();
            member.report().rates().forEach(rates::add);
            if (!member.isLate()) {
                member.report().rates().forEach(all::add);
            }
            instances.add(instance(fleet, member, rates, drift.has(member)));
        }
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("scope", fleet.shared() ? "fleet" : "instance");
        view.put("now", now.toEpochMilli());
        view.put("problem", fleet.problem());
        view.put("unreadableReports", fleet.unreadable());
        view.put("grafana", operations.grafana());
        view.put("changes", operations.changes().isPresent());
        view.put("reporting", reporting.size());
        view.put("vanished", count(fleet, fleet::isVanished));
        view.put("unknown", count(fleet, fleet::isUnknown));
        view.put("drifted", (int) reporting.stream().filter(drift::has).count());
        view.put("degraded", (int)
                reporting.stream().filter(InstancesView::isDegraded).count());
        view.put("numberOfInstances", operations.numberOfInstances());
        view.put("rates", all.view(false));
        view.put(
                "runningCalls",
                reporting.stream()
                        .mapToLong(member -> member.report().current().runningCalls())
                        .sum());
        view.put("instances", instances);
        view.put(
                "differenceCount",
                drift.byPolicy().values().stream().mapToInt(List::size).sum());
        view.put("differences", differences(drift));
        view.put("reload", reload(operations.lastReading()));
        return view;
    }

    private static int count(Fleet fleet, Predicate<Fleet.Member> counted) {
        return (int) fleet.members().stream().filter(counted).count();
    }

    private static boolean isDegraded(Fleet.Member member) {
        BackendHealth.State state = member.report().backend().state();
        return state == BackendHealth.State.DEGRADED || state == BackendHealth.State.CONNECTING;
    }

    private static Map<String, Object> instance(Fleet fleet, Fleet.Member member, RateTotals rates, boolean drifted) {
        InstanceReport report = member.report();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("id", member.id());
        view.put("self", member.self());
        view.put("vanished", fleet.isVanished(member));
        view.put("unknown", fleet.isUnknown(member));
        view.put("name", member.name());
        view.put("host", report.origin().host());
        view.put("version", report.origin().version());
        view.put("server", report.origin().server());
        view.put("java", report.origin().java());
        view.put("started", report.origin().started().toEpochMilli());
        view.put("lastReport", fleet.at().minus(member.age()).toEpochMilli());
        view.put("secondsSinceReport", member.age().toSeconds());
        view.put("backend", backend(report.backend()));
        view.put(
                "configuration",
                String.format(Locale.ROOT, "%016x", report.configuration().digest()));
        view.put("policies", report.configuration().policies());
        view.put("drifted", drifted);
        view.put("lastReload", report.configuration().readAt().toEpochMilli());
        view.put("lastReloadResult", report.configuration().result());
        view.put("configurationProblems", report.configuration().problems());
        view.put("decidedPerSecond", rates.decidedPerSecond());
        view.put("rejectedPerSecond", rates.rejectedPerSecond());
        view.put("runningCalls", report.current().runningCalls());
        view.put("running", running(report));
        return view;
    }

    private static Map<String, Object> running(InstanceReport report) {
        Map<String, Object> byPolicy = new TreeMap<>();
        report.current().running().forEach(running -> byPolicy.put(running.policy(), running.calls()));
        return byPolicy;
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
        backend.put("leases", report.leases());
        return backend;
    }

    private static List<Map<String, Object>> differences(Drift drift) {
        return drift.byPolicy().entrySet().stream()
                .flatMap(policy -> policy.getValue().stream().map(deviation -> Map.entry(policy.getKey(), deviation)))
                .limit(MAX_DIFFERENCES)
                .map(listed -> difference(listed.getKey(), listed.getValue()))
                .toList();
    }

    private static Map<String, Object> difference(String policy, Drift.Deviation deviation) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("policy", policy);
        view.put("attribute", deviation.attribute());
        view.put("instance", deviation.member().id());
        view.put("name", deviation.member().name());
        view.put("host", deviation.member().report().origin().host());
        view.put("value", deviation.value());
        view.put("source", deviation.source());
        view.put("expected", deviation.expected());
        view.put("expectedSource", deviation.expectedSource());
        return view;
    }

    private static Map<String, Object> reload(Reading reading) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("at", reading.at().toEpochMilli());
        view.put("result", reading.result().name().toLowerCase(Locale.ROOT));
        view.put("problems", ChangesView.problems(reading.problems()));
        return view;
    }
}
