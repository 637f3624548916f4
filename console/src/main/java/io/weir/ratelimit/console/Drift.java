// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

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

/**
 * The differences between the configurations of the reporting instances. For each policy, the values that most instances have are the
 * expected ones; among equally many, those of the instance that started first.
 */
final class Drift {
    private final Map<String, List<Deviation>> byPolicy = new TreeMap<>();
    private final Set<String> members = new HashSet<>();

    /**
     * A value that differs from that of most instances.
     *
     * @param member the instance
     * @param attribute the attribute; {@code policy} if the instance does not have the policy, or has it alone
     * @param value the value of the instance
     * @param source the source of that value
     * @param expected the value of most instances
     * @param expectedSource the source of that value on one of them
     */
    record Deviation(
            Fleet.Member member,
            String attribute,
            String value,
            String source,
            String expected,
            String expectedSource) {}

    /** The values of a policy by attribute; empty if an instance does not have the policy. */
    private record Version(Map<String, InstanceReport.Value> values) {
        /** Returns the values without their sources, which do not decide. */
        Map<String, String> compared() {
            Map<String, String> compared = new HashMap<>();
            values.forEach((attribute, value) -> compared.put(attribute, value.value()));
            return compared;
        }
    }

    private Drift() {}

    static Drift of(List<Fleet.Member> reporting) {
        Drift drift = new Drift();
        if (differ(reporting)) {
            List<Fleet.Member> oldestFirst = new ArrayList<>(reporting);
            oldestFirst.sort(
                    Comparator.comparing(member -> member.report().origin().started()));
            Set<String> policies = new TreeSet<>();
            Map<Fleet.Member, Map<String, Version>> versions = new LinkedHashMap<>();
            for (Fleet.Member member : oldestFirst) {
                Map<String, Version> ofMember = versions(member.report());
                versions.put(member, ofMember);
                policies.addAll(ofMember.keySet());
            }
            policies.forEach(policy -> drift.compare(policy, versions));
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

    private static Map<String, Version> versions(InstanceReport report) {
        Map<String, Version> versions = new HashMap<>();
        for (InstanceReport.PolicyValues policy : report.values()) {
            Map<String, InstanceReport.Value> values = new TreeMap<>();
            policy.values().forEach(value -> values.put(value.attribute(), value));
            versions.put(policy.policy(), new Version(values));
        }
        return versions;
    }

    /** Compares a policy on the instances that report it, or that report all of their policies and do not have it. */
    private void compare(String policy, Map<Fleet.Member, Map<String, Version>> versions) {
        Map<Fleet.Member, Version> known = new LinkedHashMap<>();
        versions.forEach((member, ofMember) -> {
            Version version = ofMember.get(policy);
            boolean complete =
                    ofMember.size() == member.report().configuration().policies();
            if (version != null || complete) {
                known.put(member, version == null ? new Version(Map.of()) : version);
            }
        });
        Map<Map<String, String>, Long> numbers = known.values().stream()
                .collect(Collectors.groupingBy(Version::compared, LinkedHashMap::new, Collectors.counting()));
        if (numbers.size() < 2) {
            return;
        }
        long most = numbers.values().stream().mapToLong(Long::longValue).max().orElse(0);
        Version expected = known.values().stream()
                .filter(version -> numbers.getOrDefault(version.compared(), 0L) == most)
                .findFirst()
                .orElseThrow();
        known.forEach((member, version) -> {
            if (!version.compared().equals(expected.compared())) {
                members.add(member.id());
                byPolicy.computeIfAbsent(policy, first -> new ArrayList<>())
                        .addAll(deviations(member, version, expected));
            }
        });
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
