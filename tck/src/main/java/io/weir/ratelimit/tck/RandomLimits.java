// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Random limits, costs and waits, mostly close to boundaries. */
final class RandomLimits {
    private static final List<Duration> WINDOWS = List.of(
            Duration.ofMillis(1),
            Duration.ofMillis(350),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofHours(24),
            Duration.ofDays(30));
    private static final List<String> ZONES = List.of(
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "America/Havana",
            "Africa/Cairo",
            "Asia/Kathmandu",
            "Australia/Lord_Howe",
            "Pacific/Chatham",
            "Pacific/Kiritimati",
            "Pacific/Pago_Pago");
    private static final long[] PERMITS = {1, 2, 3, 7, 10, 60, 100, 997, 30_000, 1_000_003, 1_000_000_000};

    private static final long MAX_PERMITS_IN_30_DAYS = 3_000_000_000L;
    private static final long MAX_WAIT_MILLIS = Limit.MAX_MAX_WAIT.toMillis();

    private final Random random;

    RandomLimits(Random random) {
        this.random = random;
    }

    /** Returns one to three limits with different windows. */
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

    /** Returns a calendar limit, in some cases with one of another unit or with a window. */
    List<Limit> calendarPolicy(CalendarPeriod.Unit unit) {
        List<Limit> limits = new ArrayList<>();
        limits.add(calendar(unit, permits()));
        CalendarPeriod.Unit other = any(List.of(CalendarPeriod.Unit.values()));
        if (other != unit && random.nextBoolean()) {
            limits.add(calendar(other, permits()));
        }
        if (random.nextBoolean()) {
            limits.add(
                    random.nextInt(limits.size() + 1),
                    policy(List.of(any(List.of(Algorithm.values())))).get(0));
        }
        return limits;
    }

    private <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private Limit calendar(CalendarPeriod.Unit unit, long permits) {
        ZoneId zone = ZoneId.of(any(ZONES));
        int anchor = random.nextBoolean() ? 1 : 1 + random.nextInt(CalendarPeriod.MAX_ANCHOR);
        return withRandomMaxWait(Limit.of(permits, new CalendarPeriod(unit, zone, anchor)));
    }

    /** Returns the limit with other permits, sometimes 0, and another burst and max-wait, or another zone and anchor. */
    Limit changed(Limit limit) {
        long permits = switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> permits();
            case 4, 5 -> limit.permits() / 2 + 1;
            default -> Math.min(limit.permits(), 1_000_000_000) * 2 + 1;
        };
        if (limit instanceof WindowLimit window) {
            return limit(window.algorithm(), permits, limit.window());
        }
        CalendarPeriod period = ((CalendarLimit) limit).period();
        return random.nextBoolean() ? calendar(period.unit(), permits) : Limit.of(permits, period);
    }

    /** Returns the greatest number of permits of a limit. */
    static long maxPermits(Algorithm algorithm) {
        return algorithm == Algorithm.SLIDING_LOG ? Limit.MAX_LOG_PERMITS : Limit.MAX_PERMITS;
    }

    private Limit limit(Algorithm algorithm, long wanted, Duration window) {
        long permits = Math.min(wanted, maxPermits(algorithm));
        boolean bucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
        if (!bucket || random.nextBoolean()) {
            return withRandomMaxWait(Limit.of(algorithm, permits, window));
        }
        long max = random.nextBoolean() ? 2 * permits + 1 : 300 * permits + 1;
        return withRandomMaxWait(
                Limit.of(algorithm, permits, window, 1 + random.nextLong(Math.min(max, MAX_PERMITS_IN_30_DAYS))));
    }

    /** Returns half of the limits with a max-wait, mostly of a few permits, if the limit has an exact time unit then. */
    private Limit withRandomMaxWait(Limit limit) {
        if (random.nextBoolean()) {
            return limit;
        }
        long someCalls = limit.window().toMillis() / Math.max(1, limit.permits()) * (1 + random.nextLong(20));
        long millis = random.nextInt(4) == 0 ? random.nextLong(MAX_WAIT_MILLIS) : someCalls + random.nextLong(20);
        Duration longest = Duration.ofMillis(Math.min(millis, MAX_WAIT_MILLIS));
        try {
            return limit.withMaxWait(longest);
        } catch (IllegalArgumentException e) {
            return limit;
        }
    }

    /** Returns the max-wait of a call: mostly 0, slightly too short, or the longest wait. */
    long maxWait(Limit limit, List<Quota> quotas) {
        long longest = limit.maxWait().toMillis() * 1_000;
        Quota quota = quotas.isEmpty() ? null : quotas.get(random.nextInt(quotas.size()));
        return switch (random.nextInt(6)) {
            case 0, 1 -> 0;
            case 2 -> random.nextLong(longest + 1);
            case 3 -> quota == null ? longest : QuotaMicros.nextPermitAfter(quota) + random.nextLong(3);
            case 4 -> longest + random.nextLong(3);
            default -> longest;
        };
    }

    private long permits() {
        return PERMITS[random.nextInt(PERMITS.length)];
    }

    /** Returns a cost, mostly at most the capacity. */
    long cost(Limit limit) {
        return switch (random.nextInt(6)) {
            case 0 -> 1;
            case 1 -> 1 + limit.capacity();
            case 2 -> Math.max(1, limit.capacity());
            case 3 -> 1 + random.nextLong(3);
            default -> 1 + random.nextLong(limit.capacity() / 2 + 1);
        };
    }

    /** Returns a wait, mostly close to a time of a quota; it can be -1. */
    long wait(Limit limit, List<Quota> quotas) {
        Quota quota = quotas.get(random.nextInt(quotas.size()));
        long window = limit.windowMicros();
        long offset = random.nextLong(3) - 1;
        return switch (random.nextInt(9)) {
            case 0 -> random.nextLong(5);
            case 1 -> random.nextLong(window);
            case 2 -> random.nextLong(3 * window);
            case 3 -> (1 + random.nextLong(3)) * window + offset;
            case 4 -> QuotaMicros.resetAfter(quota) + offset;
            case 5, 6 -> QuotaMicros.nextPermitAfter(quota) + offset;
            default -> QuotaMicros.retryAfter(quota) == QuotaMicros.NEVER ? 0 : QuotaMicros.retryAfter(quota) + offset;
        };
    }
}
