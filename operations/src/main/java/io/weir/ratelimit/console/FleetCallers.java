// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.operations.Operations;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The callers that instances list. Stored keys are masked here, so all instances' keys have the form of this instance's keys. */
final class FleetCallers {
    /** The greatest number of callers in a list over all policies. */
    static final int MAX_CALLERS = 500;

    private final Operations operations;
    private final Map<String, MergedKeys> byPolicy = new TreeMap<>();
    private final FleetBlocks blocks;
    private final Instant at;

    FleetCallers(Fleet fleet, Operations operations) {
        this.operations = operations;
        this.blocks = FleetBlocks.of(fleet);
        this.at = fleet.at();
        Map<String, List<InstanceReport.PolicyKeys>> reported = new TreeMap<>();
        Map<String, LeftOut> listed = new HashMap<>();
        LeftOut all = LeftOut.NONE;
        for (Fleet.Member member : fleet.reporting()) {
            LeftOut leftOut = LeftOut.of(member.report());
            all = all.plus(leftOut);
            for (InstanceReport.PolicyKeys keys : member.report().keys()) {
                if (!keys.policy().equals(InstanceReport.OTHERS)) {
                    reported.computeIfAbsent(keys.policy(), first -> new ArrayList<>())
                            .add(keys);
                    listed.merge(keys.policy(), leftOut, LeftOut::plus);
                }
            }
        }
        for (Map.Entry<String, List<InstanceReport.PolicyKeys>> ofPolicy : reported.entrySet()) {
            ofPolicy.getValue().add(all.without(listed.getOrDefault(ofPolicy.getKey(), LeftOut.NONE)));
            byPolicy.put(ofPolicy.getKey(), MergedKeys.of(ofPolicy.getValue()));
        }
    }

    /** The most rejections and calls that a key of policies can have on instances whose reports have no room for these policies. */
    private record LeftOut(long rejected, long active) {
        private static final LeftOut NONE = new LeftOut(0, 0);

        private static LeftOut of(InstanceReport report) {
            return report.keys().stream()
                    .filter(keys -> keys.policy().equals(InstanceReport.OTHERS))
                    .map(keys -> new LeftOut(keys.otherRejected(), keys.otherActive()))
                    .findFirst()
                    .orElse(NONE);
        }

        private LeftOut plus(LeftOut other) {
            return new LeftOut(rejected + other.rejected, active + other.active);
        }

        /** Returns the bounds of the instances that do not list a policy, as keys without a list. */
        private InstanceReport.PolicyKeys without(LeftOut listed) {
            return InstanceReport.PolicyKeys.unlisted(
                    Math.max(0, rejected - listed.rejected), Math.max(0, active - listed.active));
        }
    }

    /** Returns the keys of a policy, which no instance need list. */
    MergedKeys of(String policy) {
        return byPolicy.getOrDefault(policy, MergedKeys.of(List.of()));
    }

    /** Finds a caller that any instance lists. */
    Optional<CallerOperations.Caller> find(String policy, String maskedKey) {
        MergedKeys keys = byPolicy.getOrDefault(policy, MergedKeys.of(List.of()));
        return Stream.of(
                        blocks.keys().stream()
                                .map(FleetBlocks.BlockedKey::block)
                                .filter(block -> block.policy().equals(policy))
                                .map(KnownBlocks.Block::storedKey),
                        keys.rejected().stream().map(MergedKeys.Entry::storedKey),
                        keys.active().stream().map(MergedKeys.Entry::storedKey),
                        keys.nearLimit().stream().map(MergedKeys.NearLimit::storedKey))
                .flatMap(stored -> stored)
                .distinct()
                .map(stored -> operations.callerByStoredKey(policy, stored))
                .filter(caller -> caller.key().equals(maskedKey.strip()))
                .findFirst();
    }

    /** Returns the callers as a JSON object: those of one policy, or of all. */
    Map<String, Object> view(Optional<String> onlyPolicy) {
        Map<String, MergedKeys> selected = new TreeMap<>(byPolicy);
        onlyPolicy.ifPresent(policy -> selected.keySet().retainAll(List.of(policy)));
        List<Listed> rejected = new ArrayList<>();
        List<Listed> active = new ArrayList<>();
        List<Listed> nearLimit = new ArrayList<>();
        selected.forEach((policy, keys) -> {
            keys.rejected().forEach(entry -> rejected.add(new Listed(entry.minCount(), () -> counted(policy, entry))));
            keys.active().forEach(entry -> active.add(new Listed(entry.minCount(), () -> counted(policy, entry))));
            keys.nearLimit()
                    .forEach(
                            entry -> nearLimit.add(new Listed(entry.duration().toMillis(), () -> near(policy, entry))));
        });
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("rejected", mostFirst(rejected));
        view.put("active", mostFirst(active));
        view.put("nearLimit", mostFirst(nearLimit));
        view.put(
                "blocked",
                blocks.keys().stream()
                        .filter(key -> onlyPolicy.isEmpty()
                                || onlyPolicy.get().equals(key.block().policy()))
                        .limit(MAX_CALLERS)
                        .map(this::blocked)
                        .toList());
        view.put("blockedComplete", blocks.complete());
        view.put(
                "periodMillis",
                selected.values().stream()
                        .mapToLong(keys -> keys.period().toMillis())
                        .max()
                        .orElse(0));
        return view;
    }

    private Map<String, Object> blocked(FleetBlocks.BlockedKey key) {
        KnownBlocks.Block block = key.block();
        boolean isPenalty = block.cause() == KnownBlocks.Cause.PENALTY;
        Map<String, Object> view = caller(block.policy(), block.storedKey(), key.instances());
        view.put("cause", block.cause().name().toLowerCase(Locale.ROOT));
        view.put("end", at.plus(block.rest()).toEpochMilli());
        view.put("restMillis", block.rest().toMillis());
        view.put("penalty", isPenalty ? Optional.of(block.penalty()) : Optional.empty());
        view.put("penaltyMillis", isPenalty ? Optional.of(block.length().toMillis()) : Optional.empty());
        return view;
    }

    /** A caller of a list. Its view has its masked key, which costs more than all else, so only the first ones get one. */
    private record Listed(long rank, Supplier<Map<String, Object>> view) {}

    private static List<Map<String, Object>> mostFirst(List<Listed> entries) {
        return entries.stream()
                .sorted(Comparator.comparingLong(Listed::rank).reversed())
                .limit(MAX_CALLERS)
                .map(entry -> entry.view().get())
                .toList();
    }

    private Map<String, Object> caller(String policy, String storedKey, int instances) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("policy", policy);
        view.put("key", operations.callerByStoredKey(policy, storedKey).key());
        view.put("instances", instances);
        return view;
    }

    private Map<String, Object> counted(String policy, MergedKeys.Entry entry) {
        Map<String, Object> view = caller(policy, entry.storedKey(), entry.instances());
        view.put("minCount", entry.minCount());
        view.put("maxCount", entry.maxCount());
        view.put("utilization", entry.utilization());
        return view;
    }

    private Map<String, Object> near(String policy, MergedKeys.NearLimit entry) {
        Map<String, Object> view = caller(policy, entry.storedKey(), entry.instances());
        view.put("durationMillis", entry.duration().toMillis());
        return view;
    }
}
