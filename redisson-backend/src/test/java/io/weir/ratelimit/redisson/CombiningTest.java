// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.SlidingLogState;
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
import org.junit.jupiter.api.Test;

/** A flight on a real Redis decides each of its checks as if it had come alone. */
class CombiningTest {
    private static final long START = 59_876_543_210_123L;
    private static final int ROUNDS = 25;
    private static final int IDENTITIES = 3;
    private static final List<Duration> WINDOWS =
            List.of(Duration.ofMillis(350), Duration.ofSeconds(7), Duration.ofMinutes(1), Duration.ofDays(30));
    private static final long[] PERMITS = {0, 1, 2, 3, 7, 20, 100, 997};

    private final RedisConnection redis = RedisFixture.shared().connect();
    private final Runway runway = new Runway(redis);
    private final String namespace = "test-" + UUID.randomUUID();
    private final Checks checks = Checks.in(namespace);

    @AfterEach
    void disconnect() {
        redis.drop("weir:1:{" + namespace + "*");
        redis.close();
    }

    @Test
    void aListAndGarbageAmongTheKeysFailTheTwoChecksThatNameThemAndTheOther62AreExact() {
        List<Check> all = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Algorithm algorithm = Algorithm.values()[i % Algorithm.values().length];
            all.add(checks.spend("k." + i, 2, TestStore.limitOf(algorithm, 3, Duration.ofHours(1))));
        }
        // Half of them have spent what leaves no room for two more.
        runway.apart(
                all.stream()
                        .filter(check -> all.indexOf(check) % 2 == 0)
                        .map(check -> checks.of(check.charges, true))
                        .toList(),
                START);
        String list = all.get(17).keys.get(0);
        String garbage = all.get(40).keys.get(0);
        redis.call("DEL", list, garbage);
        redis.call("RPUSH", list, "a", "b");
        redis.call("SET", garbage, "\u00ff\u0000garbage".getBytes(ISO_8859_1));
        String before = dump(list) + dump(garbage);

        assertThat(runway.together(all, START + 1)).isEqualTo(1);

        assertThat(dump(list) + dump(garbage)).isEqualTo(before);
        for (int i = 0; i < 64; i++) {
            if (i == 17 || i == 40) {
                FlightTest.assertFailed(all.get(i), Reason.FOREIGN_STATE);
                continue;
            }
            Answer answer = all.get(i).join();
            assertThat(answer.spent()).as("check %d", i).isEqualTo(i % 2 == 1);
            assertThat(answer.quotas(all.get(i).charges))
                    .extracting(Quota::remaining)
                    .containsExactly(1L);
        }
    }

    @Test
    void aCheckThatNamesAForeignKeyAmongOthersSpendsNoneOfThem() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 2, Duration.ofHours(1));
        redis.call("RPUSH", checks.spend("k.bad", 1, limit).keys.get(0), "a");
        List<Charge> charges = List.of(
                TestStore.charge("k.a", 1, limit),
                TestStore.charge("k.bad", 1, limit),
                TestStore.charge("k.b", 1, limit));
        List<Check> all = List.of(
                checks.spend("k.a", 1, limit),
                checks.of(charges, true),
                checks.spend("k.a", 1, limit),
                checks.spend("k.b", 2, limit),
                checks.spend("k.a", 1, limit));
        assertThat(runway.together(all, START)).isEqualTo(1);
        FlightTest.assertFailed(all.get(1), Reason.FOREIGN_STATE);
        assertThat(List.of(all.get(0), all.get(2), all.get(3)))
                .allSatisfy(check -> assertThat(check.join().spent()).isTrue());
        assertThat(all.get(4).join().spent()).isFalse();
    }

    @Test
    void aFlightAnswersAndLeavesWhatItsChecksDoOneByOne() {
        boolean full = Boolean.getBoolean("weir.test.full");
        long seed = Long.getLong(
                "weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
        System.out.printf("flights against checks one by one: -Dweir.test.seed=%d%n", seed);
        for (int scenario = 0; scenario < (full ? 400 : 12); scenario++) {
            new Scenario(new Random(seed + scenario), "seed " + seed + ", scenario " + scenario).run();
        }
    }

    /** The same checks on two copies of the same keys. */
    private final class Scenario {
        private final Random random;
        private final String name;
        private final Checks combined;
        private final Checks single;
        private final List<PolicyLimits> policies = new ArrayList<>();
        private long now = START;
        private int joined;

        Scenario(Random random, String name) {
            this.random = random;
            this.name = name;
            String id = UUID.randomUUID().toString();
            this.combined = Checks.in(namespace + ".c." + id);
            this.single = Checks.in(namespace + ".s." + id);
            for (int i = 0; i < 4; i++) {
                policies.add(policy("p" + i));
            }
        }

        void run() {
            for (int round = 0; round < ROUNDS; round++) {
                String where = name + ", round " + round;
                List<Check> some = new ArrayList<>();
                List<Check> same = new ArrayList<>();
                Asking last = null;
                int size = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 1 + random.nextInt(256);
                for (int i = 0; i < size; i++) {
                    boolean repeated = i > 0 && random.nextInt(3) == 0;
                    Asking asking = repeated ? last : new Asking(charges(), random.nextInt(5) > 0);
                    last = asking;
                    some.add(asking.on(combined));
                    same.add(asking.on(single));
                }
                joined += size - runway.together(some, now);
                runway.apart(same, now);
                for (int i = 0; i < size; i++) {
                    assertThat(told(some.get(i)))
                            .as("%s: check %d of %d, %s", where, i, size, some.get(i).charges)
                            .isEqualTo(told(same.get(i)));
                }
                assertThat(stored(combined)).as(where).isEqualTo(stored(single));
                now += step();
                if (random.nextInt(6) == 0) {
                    int changed = random.nextInt(policies.size());
                    policies.set(changed, policy("p" + changed));
                }
            }
            assertThat(joined).as("checks that had company").isGreaterThan(ROUNDS);
            redis.drop(combined.keys().head() + "*");
            redis.drop(single.keys().head() + "*");
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
            int first = random.nextInt(policies.size() * IDENTITIES);
            boolean shadows = random.nextInt(4) == 0;
            for (int i = 0; i < 1 + random.nextInt(shadows ? 12 : 4) / 3; i++) {
                int which = (first + i) % (policies.size() * IDENTITIES);
                PolicyLimits policy = policies.get(which / IDENTITIES);
                String identity = "k." + policy.policy() + "." + which % IDENTITIES;
                long cost = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(random.nextInt(9) > 0 ? 5 : 1_200);
                long patience = random.nextInt(3) > 0 ? 0 : random.nextLong(20_000_000);
                Charge charge = new Charge(policy, identity, cost, patience);
                charges.add(shadows && random.nextInt(3) > 0 ? charge.asShadow() : charge);
            }
            return charges;
        }
    }

    /** A call with shadow charges spends; any other may only look. */
    private record Asking(List<Charge> charges, boolean spends) {
        Check on(Checks checks) {
            return charges.stream().anyMatch(Charge::shadow) ? checks.call(charges) : checks.of(charges, spends);
        }
    }

    /** All that a caller is told, and what giving back goes by. */
    private static String told(Check check) {
        return toldOf(check) + check.shadows.stream().map(CombiningTest::toldOf).toList();
    }

    private static String toldOf(Check check) {
        Answer answer = check.handle((told, failure) -> {
                    if (failure != null && ((BackendException) failure).reason() != Reason.FOREIGN_STATE) {
                        throw new AssertionError(failure);
                    }
                    return told;
                })
                .join();
        if (answer == null) {
            return "foreign";
        }
        List<String> states = new ArrayList<>();
        for (LimitState state : answer.states()) {
            states.add(state instanceof SlidingLogState log ? log.live() + " until " + log.newestMicros() : state + "");
        }
        return "room " + answer.room() + ", spent " + answer.spent() + ", wait " + answer.waitMicros() + ", at "
                + answer.nowMicros() + ", " + answer.quotas(check.charges) + ", " + states;
    }

    private Map<String, String> stored(Checks of) {
        Map<String, String> all = new HashMap<>();
        String head = of.keys().head();
        redis.keys(head.replace("{", "\\{") + "*")
                .forEach(key ->
                        all.put(key.substring(head.length()), HexFormat.of().formatHex(redis.bytes(key))));
        return all;
    }

    private String dump(String key) {
        return HexFormat.of().formatHex((byte[]) redis.call("DUMP", key));
    }
}
