// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Random limits, costs and waits, with a taste for those that go wrong. */
final class RandomLimits {
    private static final List<Duration> WINDOWS = List.of(
            Duration.ofMillis(1),
            Duration.ofMillis(350),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofHours(24),
            Duration.ofDays(30));
    private static final long[] PERMITS = {1, 2, 3, 7, 10, 60, 100, 997, 30_000, 1_000_003, 1_000_000_000};

    private static final long MOST_IN_30_DAYS = 3_000_000_000L;
    private static final long LONGEST_WAIT = Limit.MAX_MAX_WAIT.toMillis();

    private final Random random;

    RandomLimits(Random random) {
        this.random = random;
    }

    /** One limit to three, of different windows. */
    List<Limit> policy(List<Algorithm> algorithms) {
        List<Duration> windows = new ArrayList<>(WINDOWS);
        Collections.shuffle(windows, random);
        int count = Math.max(algorithms.size(), 1 + random.nextInt(5) / 2);
        List<Limit> limits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Algorithm algorithm = algorithms.get(i % algorithms.size());
            limits.add(limit(algorithm, permits(), windows.get(i)));
        }
        return limits;
    }

    /** The same limit with other permits, now and then none, and another burst and max-wait. */
    Limit changed(Limit limit) {
        long permits = switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> permits();
            case 4, 5 -> limit.permits() / 2 + 1;
            default -> Math.min(limit.permits(), 1_000_000_000) * 2 + 1;
        };
        return limit(limit.algorithm(), permits, limit.window());
    }

    /** The most permits that a limit may have. */
    static long mostPermits(Algorithm algorithm) {
        return algorithm == Algorithm.SLIDING_LOG ? Limit.MAX_LOG_PERMITS : Limit.MAX_PERMITS;
    }

    private Limit limit(Algorithm algorithm, long wanted, Duration window) {
        long permits = Math.min(wanted, mostPermits(algorithm));
        boolean bucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
        if (!bucket || random.nextBoolean()) {
            return shaped(Limit.of(algorithm, permits, window));
        }
        long most = random.nextBoolean() ? 2 * permits + 1 : 300 * permits + 1;
        return shaped(Limit.of(algorithm, permits, window, 1 + random.nextLong(Math.min(most, MOST_IN_30_DAYS))));
    }

    /** Every other limit lets calls wait, mostly for some slots, where a bucket's debt can still be counted then. */
    private Limit shaped(Limit limit) {
        if (random.nextBoolean()) {
            return limit;
        }
        long slots = limit.window().toMillis() / Math.max(1, limit.permits()) * (1 + random.nextLong(20));
        long millis = random.nextInt(4) == 0 ? random.nextLong(LONGEST_WAIT) : slots + random.nextLong(20);
        Duration longest = Duration.ofMillis(Math.min(millis, LONGEST_WAIT));
        try {
            return limit.withMaxWait(longest);
        } catch (IllegalArgumentException e) {
            return limit;
        }
    }

    /** How long a call is ready to wait: mostly not at all, just not long enough, or for as long as it may. */
    long patience(Limit limit, List<Quota> told) {
        long longest = limit.maxWait().toMillis() * 1_000;
        Quota quota = told.isEmpty() ? null : told.get(random.nextInt(told.size()));
        return switch (random.nextInt(6)) {
            case 0, 1 -> 0;
            case 2 -> random.nextLong(longest + 1);
            case 3 -> quota == null ? longest : quota.growsAfterMicros() + random.nextLong(3);
            case 4 -> longest + random.nextLong(3);
            default -> longest;
        };
    }

    private long permits() {
        return PERMITS[random.nextInt(PERMITS.length)];
    }

    /** A cost, mostly one for which there can be room. */
    long cost(Limit limit) {
        return switch (random.nextInt(6)) {
            case 0 -> 1;
            case 1 -> 1 + limit.capacity();
            case 2 -> Math.max(1, limit.capacity());
            case 3 -> 1 + random.nextLong(3);
            default -> 1 + random.nextLong(limit.capacity() / 2 + 1);
        };
    }

    /** A wait, mostly about as long as until something happens. May be negative by one. */
    long wait(Limit limit, List<Quota> told) {
        Quota quota = told.get(random.nextInt(told.size()));
        long window = limit.windowMicros();
        long aside = random.nextLong(3) - 1;
        return switch (random.nextInt(9)) {
            case 0 -> random.nextLong(5);
            case 1 -> random.nextLong(window);
            case 2 -> random.nextLong(3 * window);
            case 3 -> (1 + random.nextLong(3)) * window + aside;
            case 4 -> quota.resetAfterMicros() + aside;
            case 5, 6 -> quota.growsAfterMicros() + aside;
            default -> quota.retryAfterMicros() == Quota.NEVER ? 0 : quota.retryAfterMicros() + aside;
        };
    }
}
