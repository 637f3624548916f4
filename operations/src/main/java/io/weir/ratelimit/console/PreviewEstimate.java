// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.metrics.Outcome;
import io.weir.ratelimit.operations.Operations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * An estimate of the calls that limits would have rejected, from the counts of the busiest keys. A limit is compared with the calls of the
 * last minute and with those of the whole period of the counts, and the comparison with more rejections is the result.
 */
final class PreviewEstimate {
    /** The greatest number of keys. */
    private static final int MAX_KEYS = 20;

    private final Fleet fleet;
    private final Operations operations;
    private final String policy;

    PreviewEstimate(Fleet fleet, Operations operations, String policy) {
        this.fleet = fleet;
        this.operations = operations;
        this.policy = policy;
    }

    /** The calls of a key above what a limit allows at most. */
    private record Excess(String storedKey, long calls, AllowedCalls limit, Duration period) {
        long rejected() {
            return calls - limit.calls();
        }
    }

    /** The keys that would have hit a limit in a period. */
    private record Hit(AllowedCalls limit, Duration period, List<Excess> keys) {
        long rejected() {
            return keys.stream().mapToLong(Excess::rejected).sum();
        }
    }

    /** Returns the estimate as a JSON object, by the limits with the calls that they allow in a period. */
    Map<String, Object> of(
            MergedKeys keys, List<MergedKeys.Entry> considered, Function<Duration, List<AllowedCalls>> limits) {
        List<Hit> hits = hits(considered, limits, keys.period(), MergedKeys.Entry::minCount);
        if (!keys.minute().period().isZero()) {
            Map<String, Long> calls = keys.minute().calls();
            List<Hit> inMinute = hits(
                    considered, limits, keys.minute().period(), entry -> calls.getOrDefault(entry.storedKey(), 0L));
            for (int i = 0; i < hits.size(); i++) {
                if (inMinute.get(i).rejected() >= hits.get(i).rejected()) {
                    hits.set(i, inMinute.get(i));
                }
            }
        }
        RateTotals rates = new RateTotals();
        fleet.reporting().stream()
                .flatMap(member -> member.report().rates().stream())
                .filter(decided -> decided.policy().equals(policy))
                .forEach(rates::add);
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("listedKeys", considered.size());
        view.put("limits", hits.stream().map(PreviewEstimate::limit).toList());
        view.put("keys", keys(hits));
        view.put("decidedLastMinute", rates.lastMinute());
        view.put("shadowRejectedLastMinute", rates.lastMinute(Outcome.SHADOW_REJECTED));
        return view;
    }

    private static List<Hit> hits(
            List<MergedKeys.Entry> considered,
            Function<Duration, List<AllowedCalls>> limits,
            Duration period,
            ToLongFunction<MergedKeys.Entry> calls) {
        List<Hit> hits = new ArrayList<>();
        for (AllowedCalls limit : limits.apply(period)) {
            hits.add(new Hit(
                    limit,
                    period,
                    considered.stream()
                            .map(entry -> new Excess(entry.storedKey(), calls.applyAsLong(entry), limit, period))
                            .filter(excess -> excess.rejected() > 0)
                            .toList()));
        }
        return hits;
    }

    private static Map<String, Object> limit(Hit hit) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("limit", hit.limit.limit());
        view.put("periodMillis", hit.period.toMillis());
        view.put("allowed", hit.limit.calls());
        view.put("keys", hit.keys.size());
        view.put("callsAtLeast", hit.rejected());
        return view;
    }

    /** Returns each key once, with the limit that would have rejected most of its calls. */
    private List<Map<String, Object>> keys(List<Hit> hits) {
        Map<String, Excess> most = new LinkedHashMap<>();
        hits.forEach(hit -> hit.keys.forEach(excess ->
                most.merge(excess.storedKey, excess, (one, other) -> other.rejected() > one.rejected() ? other : one)));
        return most.values().stream()
                .sorted(Comparator.comparingLong(Excess::rejected).reversed().thenComparing(Excess::storedKey))
                .limit(MAX_KEYS)
                .map(this::key)
                .toList();
    }

    private Map<String, Object> key(Excess excess) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("key", operations.callerByStoredKey(policy, excess.storedKey).key());
        view.put("limit", excess.limit.limit());
        view.put("periodMillis", excess.period.toMillis());
        view.put("calls", excess.calls);
        view.put("allowed", excess.limit.calls());
        view.put("atLeast", excess.rejected());
        return view;
    }
}
