// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.BatchReply;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short way of {@code acquire.lua} replies and stores the same as {@code general.lua}. */
@Tag("redis")
class PlainBatchTest {
    private static final int STEPS = Boolean.getBoolean("weir.test.full") ? 30_000 : 3_000;
    private static final int KEYS = 6;
    private static final int MOST_KEYS_OF_GROUP = 4;
    private static final long SECOND_MICROS = 1_000_000;
    private static final long HOUR_MICROS = 3_600 * SECOND_MICROS;
    private static final long MINUTE_MILLIS = 60_000;

    private static final String STORED = """
            local stored = {}
            for i, key in ipairs(KEYS) do
                stored[i] = {redis.call('DUMP', key) or '', redis.call('PTTL', key)}
            end
            return stored
            """;

    /** Limits of one policy, as instances with different configurations have them. */
    private static final List<List<Limit>> LIMITS = List.of(
            // One permit per second, and the unit is the second.
            List.of(Limit.of(Algorithm.LEAKY_BUCKET, 30_000_000, Duration.ofDays(366))
                    .withMaxWait(Duration.ofHours(1))),
            List.of(Limit.of(Algorithm.LEAKY_BUCKET, 6, Duration.ofHours(2)).withMaxWait(Duration.ofHours(1))),
            List.of(limit(Algorithm.SLIDING_WINDOW, 5, 1)),
            List.of(limit(Algorithm.SLIDING_WINDOW, 200_000, 1)),
            List.of(limit(Algorithm.SLIDING_WINDOW, 200_000, 400)),
            List.of(limit(Algorithm.SLIDING_WINDOW, 0, 1)),
            List.of(limit(Algorithm.FIXED_WINDOW, 4, 1)),
            List.of(limit(Algorithm.FIXED_WINDOW, 0, 1)),
            List.of(limit(Algorithm.TOKEN_BUCKET, 0, 1)),
            List.of(limit(Algorithm.TOKEN_BUCKET, 6, 1)),
            List.of(limit(Algorithm.TOKEN_BUCKET, 60, 1)),
            List.of(Limit.of(Algorithm.TOKEN_BUCKET, 6, Duration.ofHours(1), 9)),
            List.of(limit(Algorithm.SLIDING_WINDOW, 1L << 33, 1), limit(Algorithm.FIXED_WINDOW, 0, 2)),
            List.of(limit(Algorithm.SLIDING_WINDOW, 5, 1), limit(Algorithm.SLIDING_WINDOW, 8, 2)),
            List.of(
                    limit(Algorithm.SLIDING_WINDOW, 5, 1),
                    limit(Algorithm.FIXED_WINDOW, 7, 2),
                    limit(Algorithm.TOKEN_BUCKET, 9, 3)),
            List.of(
                    limit(Algorithm.FIXED_WINDOW, 7, 2),
                    limit(Algorithm.SLIDING_WINDOW, 5, 1),
                    limit(Algorithm.TOKEN_BUCKET, 9, 3)));

    /** The value that Redis stores under a key: no dump and a negative time if there is no key. */
    private record Stored(String dump, long millisToLive) {}

    private final RedisConnection redis = RedisFixture.shared().connect();
    private final String namespace = "test-" + UUID.randomUUID();
    private final AcquireRequests plain = AcquireRequests.in(namespace + "-p");
    private final AcquireRequests general = AcquireRequests.in(namespace + "-g");
    private final String plainDigest = redis.text("SCRIPT", "LOAD", Script.ACQUIRE.text());
    private final String generalDigest = redis.text("SCRIPT", "LOAD", Script.ACQUIRE.withoutPlain());
    private final long seed =
            Long.getLong("weir.test.seed", ThreadLocalRandom.current().nextLong());

    private static Limit limit(Algorithm algorithm, long permits, int hours) {
        return Limit.of(algorithm, permits, Duration.ofHours(hours));
    }

    @AfterEach
    void disconnect() {
        redis.drop("weir:2:{" + namespace + "*");
        redis.close();
    }

    @Test
    void decidesAsTheGeneralWay() {
        System.out.printf("plain batches: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        long now = 59_876_543_210_123L;
        int latestLimits = 0;
        int differentKeys = 1;
        for (int step = 0; step < STEPS; step++) {
            now += steps(random);
            if (random.nextInt(60) == 0) {
                replaceValue(random);
            }
            if (step % 40 == 0) {
                latestLimits = random.nextInt(LIMITS.size());
                differentKeys = 1 + random.nextInt(3);
                redis.drop("weir:2:{" + namespace + "*");
            }
            send(charges(random, latestLimits, differentKeys), random, now, step);
        }
    }

    /** Returns the time to the next call, in microseconds, negative for a clock that steps back. */
    private static long steps(Random random) {
        return switch (random.nextInt(40)) {
            case 0 -> -random.nextLong(HOUR_MICROS);
            case 1 -> -random.nextLong(SECOND_MICROS);
            case 2 -> random.nextLong(350 * HOUR_MICROS);
            case 3, 4, 5, 6 -> random.nextLong(2 * HOUR_MICROS);
            case 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 -> random.nextLong(HOUR_MICROS / 50);
            default -> random.nextLong(2 * SECOND_MICROS);
        };
    }

    /** Stores another value under a key, or removes the key. */
    private void replaceValue(Random random) {
        int key = random.nextInt(KEYS);
        int kind = random.nextInt(4);
        for (AcquireRequests requests : List.of(plain, general)) {
            String text = requests.keys()
                    .of(TestBackend.charge("k." + key, 1, LIMITS.get(0).get(0)));
            redis.call("DEL", text);
            switch (kind) {
                case 0 -> redis.call("RPUSH", text, "a");
                case 1 -> redis.call("SET", text, "\u0000foreign".getBytes(ISO_8859_1));
                case 2 -> redis.call("SET", text, "s");
                default -> {}
            }
        }
    }

    /**
     * Returns the charges of each group. Keys with the same remainder have the same limits, except for some. A key can be in several
     * groups.
     */
    private static List<List<Charge>> charges(Random random, int latestLimits, int differentKeys) {
        List<List<Charge>> groups = new ArrayList<>();
        int first = random.nextInt(KEYS);
        int end = first + (random.nextInt(3) == 0 ? 1 : 1 + random.nextInt(random.nextInt(4) == 0 ? 3 * KEYS : KEYS));
        int groupKeys = random.nextInt(3) == 0 ? 1 : 1 + random.nextInt(MOST_KEYS_OF_GROUP);
        int key = first;
        while (key < end) {
            List<Charge> charges = new ArrayList<>();
            boolean simple = random.nextInt(3) > 0;
            int groupEnd = Math.min(end, key + (random.nextInt(8) == 0 ? 1 + random.nextInt(2) : groupKeys));
            for (; key < groupEnd; key++) {
                int index = key % KEYS;
                int limits = random.nextInt(40) == 0
                        ? random.nextInt(LIMITS.size())
                        : (latestLimits + index % differentKeys) % LIMITS.size();
                charges.add(new Charge(
                        new PolicyLimits(
                                TestBackend.charge("k", 1, LIMITS.get(0).get(0))
                                        .policy()
                                        .policy(),
                                LIMITS.get(limits)),
                        "k." + index,
                        simple ? 1 : random.nextInt(20) == 0 ? 60_000 : 1 + random.nextInt(3),
                        simple || limits > 1 ? 0 : random.nextLong(limits == 0 ? 3 * SECOND_MICROS : HOUR_MICROS)));
            }
            groups.add(charges);
            if (random.nextInt(5) == 0) {
                // The next group has the last key of this one as well.
                key--;
                end--;
            }
        }
        return groups;
    }

    private void send(List<List<Charge>> groups, Random random, long now, int step) {
        List<AcquireRequest> plainRequests = new ArrayList<>();
        List<AcquireRequest> generalRequests = new ArrayList<>();
        for (List<Charge> charges : groups) {
            Operation operation = random.nextInt(6) == 0 ? Operation.PEEK : Operation.SPEND;
            int count = operation == Operation.PEEK || random.nextBoolean() ? 1 : 1 + random.nextInt(4);
            for (int i = 0; i < count; i++) {
                plainRequests.add(plain.create(charges, operation));
                generalRequests.add(general.create(charges, operation));
            }
        }
        Batch plainBatch = batch(plainRequests);
        Batch generalBatch = batch(generalRequests);
        byte[] argument = AcquireCodec.encode(plainBatch, now);
        BatchReply reply = AcquireCodec.decode(call(plainDigest, plainBatch, argument));
        BatchReply generalReply = AcquireCodec.decode(call(generalDigest, generalBatch, argument));
        for (int i = 0; i < plainBatch.groups().size(); i++) {
            assertThat(reply.next(plainBatch.groups().get(i)))
                    .as("group %d of step %d of %s", i, step, hex(argument))
                    .usingRecursiveComparison()
                    .isEqualTo(generalReply.next(generalBatch.groups().get(i)));
        }
        List<Stored> expected = stored(generalBatch);
        List<Stored> stored = stored(plainBatch);
        assertThat(values(stored)).as("values of step %d", step).isEqualTo(values(expected));
        for (int key = 0; key < expected.size(); key++) {
            assertThat(stored.get(key).millisToLive())
                    .as("time to live of step %d", step)
                    .isCloseTo(expected.get(key).millisToLive(), within(MINUTE_MILLIS));
        }
    }

    private static Batch batch(List<AcquireRequest> requests) {
        Batch batch = new Batch(requests.get(0));
        requests.stream()
                .skip(1)
                .forEach(request -> assertThat(batch.add(request)).isTrue());
        return batch;
    }

    private byte[] call(String digest, Batch batch, byte[] argument) {
        List<Object> words =
                new ArrayList<>(List.of("EVALSHA", digest, batch.keys().size()));
        words.addAll(batch.keys());
        words.add(argument);
        return (byte[]) redis.call(words.toArray());
    }

    /** Returns what Redis stores under each key of a batch. One call for all keys is much faster than two for each. */
    private List<Stored> stored(Batch batch) {
        List<Object> words =
                new ArrayList<>(List.of("EVAL", STORED, batch.keys().size()));
        words.addAll(batch.keys());
        return ((List<?>) redis.call(words.toArray()))
                .stream()
                        .map(List.class::cast)
                        .map(pair -> new Stored(hex((byte[]) pair.get(0)), (long) pair.get(1)))
                        .toList();
    }

    private static List<String> values(List<Stored> stored) {
        return stored.stream().map(Stored::dump).toList();
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
