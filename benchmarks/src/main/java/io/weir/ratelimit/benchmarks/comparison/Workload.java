// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.report.Trial;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * A workload: the number of keys, and their limits.
 *
 * @param name the name on the command line and in the tables
 * @param keys the number of keys, which are used in turn
 * @param limits the number of limits per key
 * @param permits the permits of a limit
 * @param policies whether each limit is that of a policy of its own
 */
public record Workload(String name, int keys, int limits, long permits, boolean policies) {
    private static final int MANY = Trial.or(10_000, 200);

    /** The permits of a window, or the capacity of a bucket of another limiter, that a run never spends. */
    static final long UNREACHABLE = 1_000_000_000;

    private static final long MAX_LOG_PERMITS = 10_000;

    /** The capacity of buckets. Permits return slowly, so that the state shows the spent permits. */
    private static final long BUCKET_CAPACITY = 12_000_000;

    private static final int RETURNED_PER_HOUR = 5;

    static final Workload MANY_KEYS = new Workload("many", MANY, 1, UNREACHABLE);
    static final Workload HOT_KEY = new Workload("hot", 1, 1, UNREACHABLE);
    static final Workload THREE_LIMITS = new Workload("three-many", MANY, 3, UNREACHABLE);
    static final Workload THREE_POLICIES = new Workload("three-policies", MANY, 3, UNREACHABLE, true);
    static final Workload THREE_LIMITS_HOT = new Workload("three-hot", 1, 3, UNREACHABLE);
    static final Workload LIMITED = new Workload("limited", 1, 1, 1_000);
    static final Workload REJECTED = new Workload("rejected-many", MANY, 1, 1);
    static final Workload REJECTED_HOT = new Workload("rejected-hot", 1, 1, 1);

    /** Creates a workload of one policy. */
    Workload(String name, int keys, int limits, long permits) {
        this(name, keys, limits, permits, false);
    }

    /** Returns the same workload with the first of its limits only. */
    Workload withOneLimit() {
        return new Workload(name, keys, 1, permits, policies);
    }

    /** Returns whether one call exhausts a key. */
    boolean rejected() {
        return permits == 1;
    }

    /** Returns whether a run can exhaust a key. */
    boolean reachable() {
        return permits < UNREACHABLE;
    }

    /** Returns the windows of the limits: one hour and its multiples, which are longer than a run. */
    List<Duration> windows() {
        return IntStream.rangeClosed(1, limits).mapToObj(Duration::ofHours).toList();
    }

    /** Returns the limits of a key. */
    List<Limit> limits(Algorithm algorithm) {
        List<Limit> all = new ArrayList<>();
        for (Duration window : windows()) {
            all.add(
                    switch (algorithm) {
                        case FIXED_WINDOW, SLIDING_WINDOW -> Limit.of(algorithm, permits, window);
                        case SLIDING_LOG -> Limit.of(algorithm, Math.min(permits, MAX_LOG_PERMITS), window);
                        case TOKEN_BUCKET, LEAKY_BUCKET -> Limit.of(algorithm, returned(window), window, burst());
                    });
        }
        return all;
    }

    /** Returns the capacity of a bucket. */
    long burst() {
        return reachable() ? permits : BUCKET_CAPACITY;
    }

    /** Returns the time after which the first permit returns to a bucket. */
    Duration firstReturn() {
        Duration window = windows().get(0);
        return window.dividedBy(returned(window));
    }

    /** Returns the permits that return to a bucket within a window. */
    long returned(Duration window) {
        return reachable() ? permits : RETURNED_PER_HOUR * window.toHours();
    }

    /**
     * Returns the keys in Redis of the limits of a principal: those of Weir. The other contenders use keys of the same length, because
     * Redis and the network work more for a longer key.
     */
    List<String> redisKeys(String namespace, int key) {
        return windows().stream()
                .map(window ->
                        "weir:2:{" + namespace + ":" + storedKey(key) + "}:" + Weir.POLICY + ":s" + window.toMillis())
                .toList();
    }

    /** Returns the stored key of a principal, which has 12 bytes. */
    static String storedKey(int key) {
        return String.format(Locale.ROOT, "p.user%06d", key);
    }
}
