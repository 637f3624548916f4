// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** The number of decisions that were taken without the backend, by the reason of the failure. */
final class DegradedDecisions {
    private final Map<Reason, LongAdder> counts = new EnumMap<>(Reason.class);

    DegradedDecisions() {
        for (Reason reason : Reason.values()) {
            counts.put(reason, new LongAdder());
        }
    }

    void increment(Reason reason) {
        Objects.requireNonNull(counts.get(reason)).increment();
    }

    Totals totals() {
        Map<Reason, Long> totals = new EnumMap<>(Reason.class);
        counts.forEach((reason, count) -> totals.put(reason, count.sum()));
        return new Totals(totals);
    }

    /** The counts at one moment. */
    record Totals(Map<Reason, Long> byReason) {
        long sum() {
            return byReason.values().stream().mapToLong(Long::longValue).sum();
        }

        Totals since(Totals earlier) {
            Map<Reason, Long> difference = new EnumMap<>(Reason.class);
            byReason.forEach(
                    (reason, count) -> difference.put(reason, count - earlier.byReason.getOrDefault(reason, 0L)));
            return new Totals(difference);
        }

        /** Returns the counts above 0, such as {@code timeout 6, breaker-open 812}. */
        String text() {
            return byReason.entrySet().stream()
                    .filter(count -> count.getValue() > 0)
                    .map(count -> count.getKey().tag() + " " + count.getValue())
                    .collect(Collectors.joining(", "));
        }
    }
}
