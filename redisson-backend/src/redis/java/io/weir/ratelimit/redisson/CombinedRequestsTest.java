// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingLogState;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.BatchTest;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A batch on a real Redis decides on each of its requests as if it had been sent alone. */
@Tag("ci")
@Tag("redis")
class CombinedRequestsTest {
    private static final long START = 59_876_543_210_123L;
    private static final int ROUNDS = 25;
    private static final int KEYS = 3;
    private static final List<Duration> WINDOWS =
            List.of(Duration.ofMillis(350), Duration.ofSeconds(7), Duration.ofMinutes(1), Duration.ofDays(30));
    private static final long[] PERMITS = {0, 1, 2, 3, 7, 20, 100, 997};

    private final RedisConnection redis = RedisFixture.shared().connect();
    private final DirectScripts scripts = new DirectScripts(redis);
    private final String namespace = "test-" + UUID.randomUUID();
    private final AcquireRequests requests = AcquireRequests.in(namespace);

    @AfterEach
    void disconnect() {
        redis.drop("weir:2:{" + namespace + "*");
        redis.close();
    }

    @Test
    void foreignValuesOfTwoKeysFailTwoRequestsOf64() {
        List<AcquireRequest> all = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Algorithm algorithm = Algorithm.values()[i % Algorithm.values().length];
            all.add(requests.spend("k." + i, 2, TestBackend.limitOf(algorithm, 3, Duration.ofHours(1))));
        }
        // Every other key has no room for two permits more.
        scripts.sendApart(
                all.stream()
                        .filter(request -> all.indexOf(request) % 2 == 0)
                        .map(request -> requests.spend(request.charges))
                        .toList(),
                START);
        String list = all.get(17).keys.get(0);
        String garbage = all.get(40).keys.get(0);
        redis.call("DEL", list, garbage);
        redis.call("RPUSH", list, "a", "b");
        redis.call("SET", garbage, "\u00ff\u0000garbage".getBytes(ISO_8859_1));
        String before = dump(list) + dump(garbage);

        assertThat(scripts.sendTogether(all, START + 1)).isEqualTo(1);

        assertThat(dump(list) + dump(garbage)).isEqualTo(before);
        for (int i = 0; i < 64; i++) {
            if (i == 17 || i == 40) {
                BatchTest.assertFailed(all.get(i), Reason.FOREIGN_STATE);
                continue;
            }
            AcquireResult result = all.get(i).join();
            assertThat(result.spent()).as("request %d", i).isEqualTo(i % 2 == 1);
            assertThat(result.quotas()).extracting(Quota::remaining).containsExactly(1L);
        }
    }

    @Test
    void aRequestWithAForeignKeyAmongOthersSpendsNothing() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 2, Duration.ofHours(1));
        redis.call("RPUSH", requests.spend("k.bad", 1, limit).keys.get(0), "a");
        List<Charge> charges = List.of(
                TestBackend.charge("k.a", 1, limit),
                TestBackend.charge("k.bad", 1, limit),
                TestBackend.charge("k.b", 1, limit));
        List<AcquireRequest> all = List.of(
                requests.spend("k.a", 1, limit),
                requests.spend(charges),
                requests.spend("k.a", 1, limit),
                requests.spend("k.b", 2, limit),
                requests.spend("k.a", 1, limit));
        assertThat(scripts.sendTogether(all, START)).isEqualTo(1);
        BatchTest.assertFailed(all.get(1), Reason.FOREIGN_STATE);
        assertThat(List.of(all.get(0), all.get(2), all.get(3)))
                .allSatisfy(request -> assertThat(request.join().spent()).isTrue());
        assertThat(all.get(4).join().spent()).isFalse();
    }

    @Test
    void aBatchReturnsAndStoresTheSameAsSingleRequests() {
        boolean full = Boolean.getBoolean("weir.test.full");
        long seed = Long.getLong(
                "weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
        System.out.printf("batches against single requests: -Dweir.test.seed=%d%n", seed);
        for (int scenario = 0; scenario < (full ? 400 : 12); scenario++) {
            new Scenario(new Random(seed + scenario), "seed " + seed + ", scenario " + scenario).run();
        }
    }

    /** Sends the same requests to two copies of the same keys. */
    private final class Scenario {
        private final Random random;
        private final String name;
        private final AcquireRequests combined;
        private final AcquireRequests single;
        private final List<PolicyLimits> policies = new ArrayList<>();
        private long now = START;
        private int combinedRequests;

        Scenario(Random random, String name) {
            this.random = random;
            this.name = name;
            String id = UUID.randomUUID().toString();
            this.combined = AcquireRequests.in(namespace + ".c." + id);
            this.single = AcquireRequests.in(namespace + ".s." + id);
            for (int i = 0; i < 4; i++) {
                policies.add(policy("p" + i));
            }
        }

        void run() {
            for (int round = 0; round < ROUNDS; round++) {
                String where = name + ", round " + round;
                List<AcquireRequest> batched = new ArrayList<>();
                List<AcquireRequest> alone = new ArrayList<>();
                Call last = null;
                int size = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 1 + random.nextInt(256);
                for (int i = 0; i < size; i++) {
                    boolean repeated = i > 0 && random.nextInt(3) == 0;
                    Call call = repeated ? last : new Call(charges(), random.nextInt(5) == 0);
                    last = call;
                    batched.add(call.on(combined));
                    alone.add(call.on(single));
                }
                combinedRequests += size - scripts.sendTogether(batched, now);
                scripts.sendApart(alone, now);
                for (int i = 0; i < size; i++) {
                    assertThat(described(batched.get(i)))
                            .as("%s: request %d of %d, %s", where, i, size, batched.get(i).charges)
                            .isEqualTo(described(alone.get(i)));
                }
                assertThat(stored(combined)).as(where).isEqualTo(stored(single));
                now += step();
                if (random.nextInt(6) == 0) {
                    int changed = random.nextInt(policies.size());
                    policies.set(changed, policy("p" + changed));
                }
            }
            assertThat(combinedRequests).as("requests that shared a batch").isGreaterThan(ROUNDS);
            redis.drop(combined.keys().prefix() + "*");
            redis.drop(single.keys().prefix() + "*");
        }

        /** Mostly forward, sometimes not at all or back. */
        private long step() {
            return switch (random.nextInt(8)) {
                case 0 -> 0;
                case 1 -> -random.nextLong(400_000);
                case 2 -> random.nextLong(100_000_000);
                default -> random.nextLong(1_000_000);
            };
        }

        private PolicyLimits policy(String policyName) {
            List<Limit> limits = new ArrayList<>();
            int first = random.nextInt(WINDOWS.size());
            for (int i = 0; i < 1 + random.nextInt(3) / 2 + random.nextInt(2); i++) {
                Algorithm algorithm = Algorithm.values()[random.nextInt(Algorithm.values().length)];
                long permits = PERMITS[random.nextInt(PERMITS.length)];
                Limit limit = Limit.of(algorithm, permits, WINDOWS.get((first + i) % WINDOWS.size()));
                limits.add(random.nextBoolean() ? limit : limit.withMaxWait(Duration.ofMillis(random.nextInt(20_000))));
            }
            return new PolicyLimits(policyName, limits);
        }

        private List<Charge> charges() {
            List<Charge> charges = new ArrayList<>();
            int first = random.nextInt(policies.size() * KEYS);
            boolean many = random.nextInt(4) == 0;
            for (int i = 0; i < 1 + random.nextInt(many ? 12 : 4) / 3; i++) {
                int which = (first + i) % (policies.size() * KEYS);
                PolicyLimits policy = policies.get(which / KEYS);
                String storedKey = "k." + policy.policy() + "." + which % KEYS;
                long cost = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(random.nextInt(9) > 0 ? 5 : 1_200);
                long maxWait = random.nextInt(3) > 0 ? 0 : random.nextLong(20_000_000);
                charges.add(new Charge(policy, storedKey, cost, maxWait));
            }
            return charges;
        }
    }

    private record Call(List<Charge> charges, boolean peeks) {
        AcquireRequest on(AcquireRequests requests) {
            return peeks ? requests.create(charges, AcquireRequest.Operation.PEEK) : requests.spend(charges);
        }
    }

    /** Returns everything that a caller and a receipt depend on. */
    private static String described(AcquireRequest request) {
        AcquireResult result = request.handle((completed, failure) -> {
                    if (failure != null && ((BackendException) failure).reason() != Reason.FOREIGN_STATE) {
                        throw new AssertionError(failure);
                    }
                    return completed;
                })
                .join();
        if (result == null) {
            return "foreign";
        }
        List<String> states = new ArrayList<>();
        for (ChargeStates each : result.charges()) {
            for (LimitState state : each.states()) {
                states.add(
                        state instanceof SlidingLogState log
                                ? log.spent() + " until " + log.newestMicros()
                                : state + "");
            }
        }
        return "room " + result.hasRoom() + ", spent " + result.spent() + ", wait " + result.waitMicros() + ", at "
                + result.time().micros() + ", " + result.quotas() + ", " + states;
    }

    private Map<String, String> stored(AcquireRequests of) {
        Map<String, String> all = new HashMap<>();
        String prefix = of.keys().prefix();
        redis.keys(prefix.replace("{", "\\{") + "*")
                .forEach(key ->
                        all.put(key.substring(prefix.length()), HexFormat.of().formatHex(redis.bytes(key))));
        return all;
    }

    private String dump(String key) {
        return HexFormat.of().formatHex((byte[]) redis.call("DUMP", key));
    }
}
