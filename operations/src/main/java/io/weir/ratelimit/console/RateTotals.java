// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.Rates;
import io.weir.ratelimit.core.metrics.Outcome;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The sum of the decisions of several policies or instances. */
final class RateTotals {
    private final Map<Outcome, Long> recent = new EnumMap<>(Outcome.class);
    private final Map<Outcome, Long> minute = new EnumMap<>(Outcome.class);
    private double utilizations;
    private long measured;
    private double max;

    void add(InstanceReport.PolicyRates rates) {
        rates.recent().forEach((outcome, count) -> recent.merge(outcome, count, Long::sum));
        rates.minute().forEach((outcome, count) -> minute.merge(outcome, count, Long::sum));
        rates.utilization().ifPresent(used -> {
            // A report has no number of measured decisions. All decisions of the policy are a good weight.
            utilizations += used.mean() * rates.decided();
            measured += rates.decided();
            max = Math.max(max, used.max());
        });
    }

    /** Returns the decisions per second. */
    double decidedPerSecond() {
        return recent.values().stream().mapToLong(Long::longValue).sum() / (double) Rates.RATE_SECONDS;
    }

    /** Returns the rejections per second. */
    double rejectedPerSecond() {
        return recent.entrySet().stream()
                        .filter(count -> Rates.isRejection(count.getKey()))
                        .mapToLong(Map.Entry::getValue)
                        .sum()
                / (double) Rates.RATE_SECONDS;
    }

    /** Returns the decisions of the last minute. */
    long lastMinute() {
        return minute.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the decisions of the last minute with an outcome. */
    long lastMinute(Outcome outcome) {
        return minute.getOrDefault(outcome, 0L);
    }

    /** Returns the share of rejected decisions, without bypassed calls; empty if there were no decisions. */
    private Optional<Double> rejectedShare() {
        long all = 0;
        long rejections = 0;
        for (Map.Entry<Outcome, Long> entry : minute.entrySet()) {
            all += entry.getKey() == Outcome.BYPASSED ? 0 : entry.getValue();
            rejections += Rates.isRejection(entry.getKey()) ? entry.getValue() : 0;
        }
        return all == 0 ? Optional.empty() : Optional.of((double) rejections / all);
    }

    /** Returns the totals as a JSON object. Utilization has no meaning over several policies. */
    Map<String, Object> view(boolean ofOnePolicy) {
        Map<String, Object> outcomes = new LinkedHashMap<>();
        minute.forEach((outcome, count) -> outcomes.put(
                outcome.tag(),
                Map.of(
                        "perSecond",
                        recent.getOrDefault(outcome, 0L) / (double) Rates.RATE_SECONDS,
                        "lastMinute",
                        count)));
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("decidedPerSecond", decidedPerSecond());
        view.put("rejectedPerSecond", rejectedPerSecond());
        view.put("rejectedShare", rejectedShare());
        view.put("outcomes", outcomes);
        if (ofOnePolicy) {
            view.put(
                    "utilization",
                    measured == 0
                            ? Optional.empty()
                            : Optional.of(Map.of("mean", utilizations / measured, "max", max)));
        }
        return view;
    }
}
