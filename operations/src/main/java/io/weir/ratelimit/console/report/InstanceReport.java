// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.metrics.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The report of an instance about itself. Lists are cut to the size of a report; those of rates have the most decisions first. The keys are
 * stored keys.
 */
public record InstanceReport(
        Origin origin,
        BackendHealth.Report backend,
        Configuration configuration,
        List<PolicyRates> rates,
        List<PolicyValues> values,
        List<PolicyKeys> keys,
        Current current) {
    /** The name of the element for all policies that a list has no room for. No policy has this name. */
    public static final String OTHERS = "*";

    /** Copies the lists. */
    public InstanceReport {
        rates = List.copyOf(rates);
        values = List.copyOf(values);
        keys = List.copyOf(keys);
    }

    /** The origin of a report; the host is its name or an address. */
    public record Origin(String host, String name, String version, String server, String java, Instant started) {}

    /**
     * The state of the configuration. Equal digests mean equal values of all policies.
     *
     * @param readAt the instant of the last result of reading the configuration
     * @param result that result in lower case
     * @param problems the number of invalid parts
     */
    public record Configuration(long digest, int policies, Instant readAt, String result, int problems) {}

    /**
     * The decisions under a policy by outcome, in the last {@link Rates#RATE_SECONDS} seconds and in the last minute. The utilization of
     * its limits is that of the minute.
     */
    public record PolicyRates(
            String policy,
            Map<Outcome, Long> recent,
            Map<Outcome, Long> minute,
            Optional<Rates.Utilization> utilization) {
        public PolicyRates {
            recent = Map.copyOf(recent);
            minute = Map.copyOf(minute);
        }

        public long decided() {
            return minute.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Returns the sums of policies. */
        static PolicyRates ofOthers(List<PolicyRates> others) {
            return new PolicyRates(
                    OTHERS, sum(others, PolicyRates::recent), sum(others, PolicyRates::minute), Optional.empty());
        }

        private static Map<Outcome, Long> sum(
                List<PolicyRates> rates, Function<PolicyRates, Map<Outcome, Long>> counts) {
            Map<Outcome, Long> sum = new EnumMap<>(Outcome.class);
            rates.forEach(one -> counts.apply(one).forEach((outcome, count) -> sum.merge(outcome, count, Long::sum)));
            return sum;
        }
    }

    /** The values of a policy. */
    public record PolicyValues(String policy, List<Value> values) {
        public PolicyValues {
            values = List.copyOf(values);
        }
    }

    /** A value of an attribute of a policy, such as {@code limit}. */
    public record Value(String attribute, String value, String source) {}

    /** The top keys of a policy, the greatest numbers of a key that is not in the list, and the calls of the last minute. */
    public record PolicyKeys(String policy, TopKeys top, long otherRejected, long otherActive, Minute minute) {
        /** Returns bounds of keys that are in no list. */
        public static PolicyKeys unlisted(long rejected, long active) {
            TopKeys none = new TopKeys(List.of(), List.of(), List.of(), Duration.ZERO);
            return new PolicyKeys(OTHERS, none, rejected, active, Minute.NONE);
        }

        /** Returns the greatest counts of the keys of policies. */
        static PolicyKeys ofOthers(List<PolicyKeys> others) {
            long rejected = 0;
            long active = 0;
            for (PolicyKeys keys : others) {
                rejected = Math.max(rejected, most(keys.top.rejected(), keys.otherRejected));
                active = Math.max(active, most(keys.top.active(), keys.otherActive));
            }
            return unlisted(rejected, active);
        }

        private static long most(List<TopKeys.Entry> listed, long other) {
            return Math.max(
                    other,
                    listed.stream().mapToLong(TopKeys.Entry::maxCount).max().orElse(0));
        }
    }

    /**
     * The calls of about the last minute: the least number by stored key, for the active top keys. The time is zero if they are not known.
     */
    public record Minute(Duration period, Map<String, Long> calls) {
        public static final Minute NONE = new Minute(Duration.ZERO, Map.of());

        public Minute {
            calls = Map.copyOf(calls);
        }
    }
}
