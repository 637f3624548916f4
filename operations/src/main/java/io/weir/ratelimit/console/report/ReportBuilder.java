// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Creates the report of this instance. */
public final class ReportBuilder {
    private static final Comparator<InstanceReport.PolicyRates> MOST_DECISIONS_FIRST = Comparator.comparingLong(
                    InstanceReport.PolicyRates::decided)
            .reversed()
            .thenComparing(InstanceReport.PolicyRates::policy);

    private static final String POLICIES = "ratelimit.policies.";

    private final Operations operations;
    private final LiveRates rates;
    private final Supplier<InstanceReport.Origin> origin;
    private final MinuteCounts minutes;

    public ReportBuilder(
            Operations operations, LiveRates rates, Supplier<InstanceReport.Origin> origin, MinuteCounts minutes) {
        this.operations = operations;
        this.rates = rates;
        this.origin = origin;
        this.minutes = minutes;
    }

    public InstanceReport build() {
        List<PolicyView> policies = operations.policies();
        rates.retain(policies.stream().map(PolicyView::name).collect(Collectors.toSet()));
        Reading reading = operations.lastReading();
        List<InstanceReport.PolicyRates> decided = rates();
        return new InstanceReport(
                origin.get(),
                operations.backend(),
                new InstanceReport.Configuration(
                        digest(policies),
                        policies.size(),
                        reading.at(),
                        reading.result().name().toLowerCase(Locale.ROOT),
                        reading.problems().size()),
                decided,
                policies.stream()
                        .filter(policy -> isReported(policy.name()))
                        .map(ReportBuilder::values)
                        .toList(),
                keys(),
                Current.of(operations));
    }

    /** Tests for a name that fits a report. */
    static boolean isReported(String name) {
        return name.length() <= ReportCodec.MAX_NAME;
    }

    private List<InstanceReport.PolicyRates> rates() {
        List<InstanceReport.PolicyRates> decided = new ArrayList<>();
        for (String policy : rates.policies()) {
            Rates ofPolicy = rates.of(policy);
            if (isReported(policy) && !ofPolicy.counts().isEmpty()) {
                decided.add(new InstanceReport.PolicyRates(
                        policy, ofPolicy.recent(), ofPolicy.counts(), ofPolicy.utilization()));
            }
        }
        decided.sort(MOST_DECISIONS_FIRST);
        return decided;
    }

    private static InstanceReport.PolicyValues values(PolicyView policy) {
        return new InstanceReport.PolicyValues(
                policy.name(),
                policy.settings().stream()
                        .map(setting -> new InstanceReport.Value(
                                attribute(setting.property(), policy.name()), setting.value(), setting.source()))
                        .toList());
    }

    /** Returns the attribute of a property of a policy, such as {@code limit}; the property if it has another form. */
    public static String attribute(String property, String policy) {
        for (String prefix : List.of(POLICIES + policy + ".", POLICIES + '"' + policy + "\".")) {
            if (property.startsWith(prefix)) {
                return property.substring(prefix.length());
            }
        }
        return property;
    }

    /** Returns the top keys, beginning with the policy that has rejected the most calls of one key. */
    private List<InstanceReport.PolicyKeys> keys() {
        List<InstanceReport.PolicyKeys> keys = new ArrayList<>();
        for (String policy : rates.policies()) {
            try {
                TopKeys top = operations.storedTopKeys(policy);
                if (isReported(policy) && !isEmpty(top)) {
                    keys.add(minutes.with(keys(policy, top)));
                }
            } catch (IllegalArgumentException e) {
                // The policy was removed after it was listed.
            }
        }
        keys.sort(Comparator.comparingLong(ReportBuilder::mostRejections)
                .reversed()
                .thenComparing(InstanceReport.PolicyKeys::policy));
        return keys;
    }

    private static boolean isEmpty(TopKeys top) {
        return top.rejected().isEmpty()
                && top.active().isEmpty()
                && top.nearLimit().isEmpty();
    }

    private static long mostRejections(InstanceReport.PolicyKeys keys) {
        List<TopKeys.Entry> rejected = keys.top().rejected();
        return rejected.isEmpty() ? 0 : rejected.get(0).minCount();
    }

    private static InstanceReport.PolicyKeys keys(String policy, TopKeys top) {
        return new InstanceReport.PolicyKeys(
                policy,
                new TopKeys(
                        entries(top.rejected()),
                        entries(top.active()),
                        top.nearLimit().stream()
                                .filter(near -> isReported(near.key()))
                                .limit(ReportCodec.MAX_KEYS)
                                .toList(),
                        top.period()),
                others(top.rejected()),
                others(top.active()),
                InstanceReport.Minute.NONE);
    }

    private static List<TopKeys.Entry> entries(List<TopKeys.Entry> entries) {
        return entries.stream()
                .filter(entry -> isReported(entry.key()))
                .limit(ReportCodec.MAX_KEYS)
                .toList();
    }

    /** Returns the bound of the keys that are not in a list: the last key of a full list bounds them. */
    private static long others(List<TopKeys.Entry> entries) {
        long bound = entries.size() < ReportCodec.MAX_KEYS
                ? 0
                : entries.get(ReportCodec.MAX_KEYS - 1).maxCount();
        return Math.max(
                bound,
                entries.stream()
                        .filter(entry -> !isReported(entry.key()))
                        .mapToLong(TopKeys.Entry::maxCount)
                        .max()
                        .orElse(0));
    }

    private static long digest(List<PolicyView> policies) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (PolicyView policy : policies) {
                add(policy.name(), digest);
                for (PolicyView.Setting setting : policy.settings()) {
                    add(setting.property(), digest);
                    add(setting.value(), digest);
                }
            }
            return ByteBuffer.wrap(digest.digest()).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    private static void add(String text, MessageDigest digest) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(4).putInt(0, bytes.length));
        digest.update(bytes);
    }
}
