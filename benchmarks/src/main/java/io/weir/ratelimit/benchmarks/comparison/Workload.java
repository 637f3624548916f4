// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * What is decided about: how many keys, how many limits each has, and whether they have room.
 *
 * @param name its name on the command line and in the tables
 * @param keys how many keys there are, visited in turn
 * @param limits limits per key
 * @param refused whether one call exhausts a key; else nobody ever does
 */
public record Workload(String name, int keys, int limits, boolean refused) {
    private static final int MANY = 10_000;

    /** Permits of a window, or those that a bucket of a peer holds, that are never all spent. */
    static final long PLENTY = 1_000_000_000;

    private static final long LONGEST_LOG = 10_000;

    /** Buckets return a permit after {@link #RETURN}, so that what they hold tells what was spent; this still stays below 285 years. */
    private static final long DEEP_BUCKET = 12_000_000;

    private static final int RETURNED_PER_HOUR = 5;

    /** The time after which a first spent permit is back in a bucket. */
    static final Duration RETURN = Duration.ofHours(1).dividedBy(RETURNED_PER_HOUR);

    static final Workload MANY_KEYS = new Workload("many", MANY, 1, false);
    static final Workload HOT_KEY = new Workload("hot", 1, 1, false);
    static final Workload THREE_LIMITS = new Workload("three-many", MANY, 3, false);
    static final Workload THREE_LIMITS_HOT = new Workload("three-hot", 1, 3, false);
    static final Workload REFUSED = new Workload("refused-many", MANY, 1, true);
    static final Workload REFUSED_HOT = new Workload("refused-hot", 1, 1, true);

    /** The windows of the limits, one hour and its multiples: longer than a run. */
    List<Duration> windows() {
        return IntStream.rangeClosed(1, limits).mapToObj(Duration::ofHours).toList();
    }

    /** The limits of a key. */
    List<Limit> limits(Algorithm algorithm) {
        List<Limit> all = new ArrayList<>();
        for (Duration window : windows()) {
            all.add(
                    switch (algorithm) {
                        case FIXED_WINDOW, SLIDING_WINDOW -> Limit.of(algorithm, refused ? 1 : PLENTY, window);
                        case SLIDING_LOG -> Limit.of(algorithm, refused ? 1 : LONGEST_LOG, window);
                        case TOKEN_BUCKET, LEAKY_BUCKET -> {
                            long permits = refused ? 1 : RETURNED_PER_HOUR * window.toHours();
                            yield Limit.of(algorithm, permits, window, refused ? 1 : DEEP_BUCKET);
                        }
                    });
        }
        return all;
    }

    /** Who a key stands for, in stored form: a principal, 12 bytes. */
    static String identity(int key) {
        return String.format(Locale.ROOT, "p.user%06d", key);
    }
}
