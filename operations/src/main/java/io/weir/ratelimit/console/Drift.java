// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.InstanceReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The differences between the configurations of the reporting instances. For each policy, the values that most instances have are the
 * expected ones; among equally many, those of the instance that started first.
 */
final class Drift {
    /** The greatest number of compared policies. Each of them is searched in the report of each instance. */
    static final int MAX_POLICIES = 2_000;

    private final Map<String, List<Deviation>> byPolicy = new TreeMap<>();
    private final Set<String> members = new HashSet<>();

    /**
     * A value that differs from that of most instances; its attribute is {@code policy} if the instance does not have the policy, or has it
     * alone.
     */
    record Deviation(
            Fleet.Member member,
            String attribute,
            String value,
            String source,
            String expected,
            String expectedSource) {}

    /**
     * The values of a policy on an instance, by attribute, and those without their sources, which do not decide. They are empty if the
     * instance does not have the policy.
     */
    private record Version(Map<String, InstanceReport.Value> values, Map<String, String> compared) {
        private static final Version NONE = new Version(Map.of(), Map.of());

        static Version of(InstanceReport.PolicyValues policy) {
            Map<String, InstanceReport.Value> values = new TreeMap<>();
            Map<String, String> compared = new HashMap<>();
            for (InstanceReport.Value value : policy.values()) {
                values.put(value.attribute(), value);
                compared.put(value.attribute(), value.value());
            }
            return new Version(values, compared);
        }
    }

    /** A member with the values of its policies. */
    private record Reported(Fleet.Member member, Map<String, Version> byPolicy) {
        static Reported of(Fleet.Member member) {
            Map<String, Version> byPolicy = new LinkedHashMap<>();
            member.report().values().forEach(policy -> byPolicy.put(policy.policy(), Version.of(policy)));
            return new Reported(member, byPolicy);
        }

        /** Tests whether a policy that has no values is one that the instance does not have. */
        boolean isComplete() {
            return byPolicy.size() == member.report().configuration().policies();
        }
    }

    /** A member with the values of one policy. */
    private record Known(Fleet.Member member, Version version) {}

    private Drift() {}

    static Drift of(List<Fleet.Member> reporting) {
        Drift drift = new Drift();
        if (differ(reporting)) {
            List<Fleet.Member> oldestFirst = new ArrayList<>(reporting);
            oldestFirst.sort(
                    Comparator.comparing(member -> member.report().origin().started()));
            List<Reported> reports = oldestFirst.stream().map(Reported::of).toList();
            // Reports of any origin cannot displace the policies of this instance.
            Stream.of(true, false)
                    .flatMap(self ->
                            reports.stream().filter(report -> report.member().self() == self))
                    .flatMap(report -> report.byPolicy().keySet().stream())
                    .distinct()
                    .limit(MAX_POLICIES)
                    .forEach(policy -> drift.compare(policy, reports));
            drift.compareDigests(oldestFirst);
        }
        return drift;
    }

    private static boolean differ(List<Fleet.Member> reporting) {
        return reporting.stream()
                        .map(member -> member.report().configuration().digest())
                        .distinct()
                        .count()
                > 1;
    }

    /** Compares a policy on the instances that report it, or that report all of their policies and do not have it. */
    private void compare(String policy, List<Reported> reports) {
        List<Known> known = new ArrayList<>();
        for (Reported report : reports) {
            Version version = report.byPolicy().get(policy);
            if (version != null || report.isComplete()) {
                known.add(new Known(report.member(), version == null ? Version.NONE : version));
            }
        }
        Map<Map<String, String>, Long> numbers = known.stream()
                .collect(Collectors.groupingBy(
                        each -> each.version().compared(), LinkedHashMap::new, Collectors.counting()));
        if (numbers.size() < 2) {
            return;
        }
        long most = numbers.values().stream().mapToLong(Long::longValue).max().orElse(0);
        Version expected = known.stream()
                .map(Known::version)
                .filter(version -> numbers.getOrDefault(version.compared(), 0L) == most)
                .findFirst()
                .orElseThrow();
        for (Known each : known) {
            if (!each.version().compared().equals(expected.compared())) {
                members.add(each.member().id());
                byPolicy.computeIfAbsent(policy, first -> new ArrayList<>())
                        .addAll(deviations(each.member(), each.version(), expected));
            }
        }
    }

    private static List<Deviation> deviations(Fleet.Member member, Version version, Version expected) {
        if (version.values.isEmpty() || expected.values.isEmpty()) {
            boolean missing = version.values.isEmpty();
            return List.of(new Deviation(
                    member, "policy", missing ? "missing" : "present", "", missing ? "present" : "missing", ""));
        }
        Set<String> attributes = new TreeSet<>(version.values.keySet());
        attributes.addAll(expected.values.keySet());
        List<Deviation> deviations = new ArrayList<>();
        for (String attribute : attributes) {
            Optional<InstanceReport.Value> has = Optional.ofNullable(version.values.get(attribute));
            Optional<InstanceReport.Value> should = Optional.ofNullable(expected.values.get(attribute));
            if (!has.map(InstanceReport.Value::value).equals(should.map(InstanceReport.Value::value))) {
                deviations.add(new Deviation(
                        member,
                        attribute,
                        has.map(InstanceReport.Value::value).orElse("not set"),
                        has.map(InstanceReport.Value::source).orElse(""),
                        should.map(InstanceReport.Value::value).orElse("not set"),
                        should.map(InstanceReport.Value::source).orElse("")));
            }
        }
        return deviations;
    }

    /** Marks the instances whose digest differs, also if no reported value does: reports do not contain all policies and long values. */
    private void compareDigests(List<Fleet.Member> oldestFirst) {
        Map<Long, Long> numbers = oldestFirst.stream()
                .collect(Collectors.groupingBy(
                        member -> member.report().configuration().digest(), LinkedHashMap::new, Collectors.counting()));
        long expected = numbers.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElseThrow();
        oldestFirst.stream()
                .filter(member -> member.report().configuration().digest() != expected)
                .forEach(member -> members.add(member.id()));
    }

    /** Returns the policies of which instances have other values, with these values. */
    Map<String, List<Deviation>> byPolicy() {
        return byPolicy;
    }

    /** Tests whether an instance has other values than most instances. */
    boolean has(Fleet.Member member) {
        return members.contains(member.id());
    }
}
