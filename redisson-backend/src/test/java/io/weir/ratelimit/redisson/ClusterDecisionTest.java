// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions over keys of several masters: all or nothing, whoever else decides meanwhile. */
class ClusterDecisionTest {
    private static final int THREADS = 64;
    private static final int ROUNDS = 8;
    private static final Duration DAY = Duration.ofDays(30);

    private ClusterStore store;
    private Charge window;
    private Charge log;
    private Charge bucket;

    @BeforeEach
    void connect() {
        store = ClusterStore.on(ClusterFixture.shared(), Duration.ofSeconds(20));
        List<String> identities = store.identities();
        window = ClusterStore.charge(identities.get(0), 1, Algorithm.FIXED_WINDOW, 60, DAY);
        log = ClusterStore.charge(identities.get(1), 1, Algorithm.SLIDING_LOG, 40, DAY);
        bucket = ClusterStore.charge(identities.get(2), 2, Algorithm.TOKEN_BUCKET, 100, DAY);
    }

    @AfterEach
    void disconnect() {
        for (RedisProcess master : ClusterFixture.shared().masters()) {
            try (RedisConnection connection = master.connect()) {
                assertThat(connection.text("INFO", "errorstats")).doesNotContain("CROSSSLOT");
            }
        }
        store.close();
    }

    private Decision acquire(Charge... charges) {
        return store.backend().acquire(List.of(charges));
    }

    @Test
    void aDecisionOverThreeMastersChargesAllAndAnswersInTheOrderOfTheCharges() {
        Charge second = ClusterStore.charge(window.identity(), 3, Algorithm.SLIDING_WINDOW, 30, DAY);
        Decision decision = acquire(window, log, second, bucket);
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.quotas())
                .extracting(Quota::policy)
                .containsExactly("fixed-window", "sliding-log", "sliding-window", "token-bucket");
        assertThat(decision.quotas()).extracting(Quota::remaining).containsExactly(59L, 39L, 27L, 98L);
        for (Charge charge : List.of(window, log, second, bucket)) {
            assertThat(store.keys(charge.identity()).stream()
                            .map(store.cluster()::slot)
                            .distinct())
                    .hasSize(1);
            assertThat(store.spent(charge)).isEqualTo(charge.cost());
        }
    }

    @Test
    void aRefusalByOneMasterChargesNoneAndNamesAllThatRefuse() {
        Charge dear = new Charge(log.policy(), log.identity(), 40);
        acquire(dear, window);
        Charge never = new Charge(bucket.policy(), bucket.identity(), 101);
        long writes = writes();
        Decision.Rejected rejected = (Decision.Rejected) acquire(window, log, never);
        assertThat(rejected.violatedPolicies()).containsExactly("sliding-log", "token-bucket");
        assertThat(rejected.quotas()).extracting(Quota::remaining).containsExactly(59L, 0L, 100L);
        assertThat(rejected.retryAfter())
                .as("the cost exceeds what the bucket can hold")
                .isEmpty();
        assertThat(writes()).isEqualTo(writes);
        assertThat(store.keys(bucket.identity())).isEmpty();
    }

    private long writes() {
        return store.calls("set") + store.calls("del");
    }

    @Test
    void aReceiptGivesAllPartsBackAndOnceOnly() {
        acquire(window, log, bucket);
        Decision.Allowed allowed = (Decision.Allowed) acquire(window, log, bucket);
        store.backend().giveBack(allowed.receipt());
        store.backend().giveBack(allowed.receipt());
        assertThat(store.spent(window)).isEqualTo(1);
        assertThat(store.spent(log)).isEqualTo(1);
        assertThat(store.spent(bucket)).isEqualTo(2);
        for (Charge charge : List.of(window, log, bucket)) {
            store.backend().giveBack(charge);
            assertThat(store.spent(charge)).isZero();
        }
    }

    @Test
    void aResetClearsTheKeyOnItsMasterAndLeavesTheOthers() {
        acquire(window, log, bucket);
        store.backend().reset(log.policy(), log.identity());
        assertThat(store.keys(log.identity())).isEmpty();
        assertThat(store.spent(window)).isEqualTo(1);
        assertThat(store.spent(bucket)).isEqualTo(2);
    }

    /**
     * Calls over other choices of the three, in other orders, so that each spends another part first: few permits for many, again
     * and again, so that races are lost in all parts.
     */
    @ParameterizedTest(name = "asynchronous: {0}")
    @ValueSource(booleans = {false, true})
    void underContentionNoPartExceedsItsLimitAndWhenAllIsQuietNoPermitIsMissing(boolean async) throws Exception {
        Charge narrowWindow = ClusterStore.charge(window.identity(), 1, Algorithm.SLIDING_WINDOW, 9, DAY);
        Charge narrowLog = ClusterStore.charge(log.identity(), 1, Algorithm.SLIDING_LOG, 9, DAY);
        Charge narrowBucket = ClusterStore.charge(bucket.identity(), 2, Algorithm.TOKEN_BUCKET, 18, DAY);
        List<Charge> all = List.of(narrowWindow, narrowLog, narrowBucket);
        List<List<Charge>> choices = List.of(
                all,
                List.of(narrowBucket, narrowWindow),
                List.of(narrowLog, narrowBucket),
                List.of(narrowWindow, narrowLog),
                List.of(narrowBucket, narrowLog, narrowWindow));
        for (int round = 0; round < ROUNDS; round++) {
            long[] allowed = race(choices, async);
            for (Charge charge : all) {
                long charged = 0;
                for (int i = 0; i < allowed.length; i++) {
                    charged += choices.get(i).contains(charge) ? allowed[i] * charge.cost() : 0;
                }
                long expected = charged;
                assertThat(expected)
                        .isLessThanOrEqualTo(charge.policy().limits().get(0).capacity());
                Await.until(
                        "round " + round + ", " + charge + ": " + expected + " permits are spent",
                        Duration.ofSeconds(10),
                        () -> store.spent(charge) == expected);
            }
            Decision last = store.backend().acquire(all);
            while (last.allowed()) {
                last = store.backend().acquire(all);
            }
            assertThat(last.quotas())
                    .as("one limit is spent to the last permit")
                    .anyMatch(quota -> quota.remaining() == 0);
            all.forEach(charge -> store.backend().reset(charge.policy(), charge.identity()));
        }
    }

    private long[] race(List<List<Charge>> choices, boolean async) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            CountDownLatch ready = new CountDownLatch(THREADS);
            List<Future<Long>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                List<Charge> charges = choices.get(thread % choices.size());
                all.add(pool.submit(() -> {
                    ready.countDown();
                    ready.await();
                    Decision decision = async
                            ? store.backend()
                                    .acquireAsync(charges)
                                    .toCompletableFuture()
                                    .get(30, TimeUnit.SECONDS)
                            : store.backend().acquire(charges);
                    return decision.allowed() ? 1L : 0L;
                }));
            }
            long[] allowed = new long[choices.size()];
            for (int thread = 0; thread < THREADS; thread++) {
                allowed[thread % choices.size()] += all.get(thread).get(60, TimeUnit.SECONDS);
            }
            return allowed;
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void aDecisionIsOneScriptPerSlotToLookAndOneToSpendAndOneAloneWhereAllIsInOneSlot() {
        long scripts = store.calls("evalsha");
        assertThat(acquire(window, ClusterStore.charge(window.identity(), 1, Algorithm.TOKEN_BUCKET, 10, DAY))
                        .allowed())
                .isTrue();
        assertThat(store.calls("evalsha") - scripts).as("one slot").isEqualTo(1);
        scripts = store.calls("evalsha");
        assertThat(acquire(window, log).allowed()).isTrue();
        assertThat(store.calls("evalsha") - scripts).as("two slots").isEqualTo(4);
        scripts = store.calls("evalsha");
        assertThat(acquire(window, log, bucket).allowed()).isTrue();
        assertThat(store.calls("evalsha") - scripts).as("three slots").isEqualTo(6);
        scripts = store.calls("evalsha");
        assertThat(acquire(window, log, new Charge(bucket.policy(), bucket.identity(), 101))
                        .allowed())
                .isFalse();
        assertThat(store.calls("evalsha") - scripts)
                .as("a refusal over three slots")
                .isEqualTo(3);
        assertThat(store.calls("eval")).isZero();
    }
}
