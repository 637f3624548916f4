// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program that measures the short way of {@code acquire.lua}: the time that Redis takes per call of one hot key, with it and without it.
 * Short rounds alternate, so that other load on the machine affects both alike.
 */
public final class ShortPathCost {
    private static final int ROUNDS = 21;
    private static final int CALLS = 10_000;
    private static final long ROOM = 1_000_000_000;
    private static final Pattern TIME = Pattern.compile("cmdstat_evalsha:calls=" + CALLS + ",usec=(\\d+),");

    private final RedisConnection redis;
    private final String with;
    private final String without;

    private ShortPathCost(RedisConnection redis) {
        this.redis = redis;
        this.with = redis.text("SCRIPT", "LOAD", Script.ACQUIRE.text());
        this.without = redis.text("SCRIPT", "LOAD", Script.ACQUIRE.withoutPlain());
    }

    /**
     * Prints the time per call.
     *
     * @param args none
     */
    public static void main(String[] args) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            ShortPathCost cost = new ShortPathCost(redis);
            for (Algorithm algorithm :
                    List.of(Algorithm.FIXED_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.SLIDING_WINDOW)) {
                cost.measure("allowed", Limit.of(algorithm, ROOM, Duration.ofHours(1)));
                cost.measure("rejected", Limit.of(algorithm, 1, Duration.ofHours(1)));
            }
        }
    }

    private void measure(String outcome, Limit limit) {
        // A key with the section of another limit is not plain.
        redis.call("FLUSHALL");
        RedisKeys keys = RedisKeys.of("default");
        Charge charge = new Charge(new PolicyLimits(outcome, List.of(limit)), "i.203.0.113.7", 1);
        Batch batch = new Batch(new RequestFactory(keys, RejectionCache.disabled(keys), late -> {})
                .create(
                        List.of(charge),
                        AcquireRequest.Operation.SPEND,
                        System.nanoTime() + TimeUnit.HOURS.toNanos(1)));
        double[] shortPath = new double[ROUNDS];
        double[] general = new double[ROUNDS];
        microsPerCall(with, batch);
        microsPerCall(without, batch);
        for (int round = 0; round < ROUNDS; round++) {
            shortPath[round] = microsPerCall(with, batch);
            general[round] = microsPerCall(without, batch);
        }
        double shortMedian = median(shortPath);
        double generalMedian = median(general);
        System.out.printf(
                Locale.ROOT,
                "%s, %s: %.2f us by the short way, %.2f us by general.lua, %.0f %% less%n",
                ((WindowLimit) limit).algorithm(),
                outcome,
                shortMedian,
                generalMedian,
                100 * (1 - shortMedian / generalMedian));
    }

    private double microsPerCall(String digest, Batch batch) {
        Object key = batch.keys().get(0);
        byte[] argument = AcquireCodec.encode(batch, 0);
        redis.call("CONFIG", "RESETSTAT");
        for (int call = 0; call < CALLS; call++) {
            redis.call("EVALSHA", digest, 1, key, argument);
        }
        Matcher time = TIME.matcher(redis.text("INFO", "commandstats"));
        if (!time.find()) {
            throw new IllegalStateException("the statistics of Redis do not contain the calls");
        }
        return (double) Long.parseLong(time.group(1)) / CALLS;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
