// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions over keys of several masters are all or nothing, also under contention. */
@Tag("redis")
class ClusterDecisionTest {
    private static final int THREADS = 64;
    private static final int ROUNDS = 8;
    private static final Duration DAY = Duration.ofDays(30);

    private ClusterUnderFault fixture;
    private Charge window;
    private Charge log;
    private Charge bucket;

    @BeforeEach
    void connect() {
        fixture = SelfTestEnd.awaited(() -> ClusterUnderFault.on(ClusterFixture.shared(), Duration.ofSeconds(20)));
        List<String> storedKeys = fixture.storedKeys();
        window = ClusterUnderFault.charge(storedKeys.get(0), 1, Algorithm.FIXED_WINDOW, 60, DAY);
        log = ClusterUnderFault.charge(storedKeys.get(1), 1, Algorithm.SLIDING_LOG, 40, DAY);
        bucket = ClusterUnderFault.charge(storedKeys.get(2), 2, Algorithm.TOKEN_BUCKET, 100, DAY);
    }

    @AfterEach
    void disconnect() {
        for (RedisProcess master : ClusterFixture.shared().masters()) {
            try (RedisConnection connection = master.connect()) {
                assertThat(connection.text("INFO", "errorstats")).doesNotContain("CROSSSLOT");
            }
        }
        fixture.close();
    }

    private Decision acquire(Charge... charges) {
        return fixture.backend().acquire(List.of(charges));
    }

    @Test
    void spendsOnThreeMastersAndReturnsQuotasInTheOrderOfTheCharges() {
        Charge second = ClusterUnderFault.charge(window.storedKey(), 3, Algorithm.SLIDING_WINDOW, 30, DAY);
        Decision decision = acquire(window, log, second, bucket);
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.quotas())
                .extracting(Quota::policy)
                .containsExactly("fixed-window", "sliding-log", "sliding-window", "token-bucket");
        assertThat(decision.quotas()).extracting(Quota::remaining).containsExactly(59L, 39L, 27L, 98L);
        for (Charge charge : List.of(window, log, second, bucket)) {
            assertThat(fixture.keys(charge.storedKey()).stream()
                            .map(fixture.cluster()::slot)
                            .distinct())
                    .hasSize(1);
            assertThat(fixture.spent(charge)).isEqualTo(charge.cost());
        }
    }

    @Test
    void aRejectionByOneMasterSpendsNothingAndNamesAllViolatedPolicies() {
        Charge expensive = new Charge(log.policy(), log.storedKey(), 40);
        acquire(expensive, window);
        Charge never = new Charge(bucket.policy(), bucket.storedKey(), 101);
        long writes = writes();
        Decision.Rejected rejected = (Decision.Rejected) acquire(window, log, never);
        assertThat(rejected.violatedPolicies()).containsExactly("sliding-log", "token-bucket");
        assertThat(rejected.quotas()).extracting(Quota::remaining).containsExactly(59L, 0L, 100L);
        assertThat(rejected.retryAfter())
                .as("the cost exceeds what the bucket can hold")
                .isEmpty();
        assertThat(writes()).isEqualTo(writes);
        assertThat(fixture.keys(bucket.storedKey())).isEmpty();
    }

    private long writes() {
        return fixture.calls("set") + fixture.calls("del");
    }

    @Test
    void aReceiptRefundsAllMastersOnce() {
        acquire(window, log, bucket);
        Decision.Allowed allowed = (Decision.Allowed) acquire(window, log, bucket);
        fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
        fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
        assertThat(fixture.spent(window)).isEqualTo(1);
        assertThat(fixture.spent(log)).isEqualTo(1);
        assertThat(fixture.spent(bucket)).isEqualTo(2);
        for (Charge charge : List.of(window, log, bucket)) {
            fixture.backend().refund(charge).toCompletableFuture().join();
            assertThat(fixture.spent(charge)).isZero();
        }
    }

    @Test
    void aReceiptSettlesAllMastersOnce() {
        acquire(window, log, bucket);
        Decision.Allowed allowed = (Decision.Allowed) acquire(window, log, bucket);
        assertThat(fixture.backend()
                        .settle(allowed.receipt(), charge -> true, 7)
                        .toCompletableFuture()
                        .join())
                .containsExactly(window, log, bucket);
        assertThat(fixture.backend()
                        .settle(allowed.receipt(), charge -> true, 9)
                        .toCompletableFuture()
                        .join())
                .isEmpty();
        assertThat(fixture.spent(window)).isEqualTo(1 + 7);
        assertThat(fixture.spent(log)).isEqualTo(1 + 7);
        assertThat(fixture.spent(bucket)).isEqualTo(2 + 7);
        fixture.backend().refund(allowed.receipt()).toCompletableFuture().join();
        assertThat(fixture.spent(bucket)).isEqualTo(2);

        Decision.Allowed other = (Decision.Allowed) acquire(window, log, bucket);
        fixture.backend()
                .settle(other.receipt(), charge -> true, 1)
                .toCompletableFuture()
                .join();
        assertThat(fixture.spent(window)).isEqualTo(2);
        assertThat(fixture.spent(bucket)).isEqualTo(3);
    }

    @Test
    void resetClearsTheKeyOnItsMasterOnly() {
        acquire(window, log, bucket);
        fixture.backend().reset(List.of(log.policy()), log.storedKey());
        assertThat(fixture.keys(log.storedKey())).isEmpty();
        assertThat(fixture.spent(window)).isEqualTo(1);
        assertThat(fixture.spent(bucket)).isEqualTo(2);
    }

    /**
     * Calls with different selections of the three charges in different orders, so that each spends another slot first. Many callers
     * compete for few permits, so that some calls lose a race in each slot.
     */
    @ParameterizedTest(name = "asynchronous: {0}")
    @ValueSource(booleans = {false, true})
    void underContentionNoLimitIsExceededAndNoPermitIsLost(boolean async) throws Exception {
        Charge narrowWindow = ClusterUnderFault.charge(window.storedKey(), 1, Algorithm.SLIDING_WINDOW, 9, DAY);
        Charge narrowLog = ClusterUnderFault.charge(log.storedKey(), 1, Algorithm.SLIDING_LOG, 9, DAY);
        Charge narrowBucket = ClusterUnderFault.charge(bucket.storedKey(), 2, Algorithm.TOKEN_BUCKET, 18, DAY);
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
                        () -> fixture.spent(charge) == expected);
            }
            Decision last = fixture.backend().acquire(all);
            while (last.allowed()) {
                last = fixture.backend().acquire(all);
            }
            assertThat(last.quotas()).as("one limit is exhausted").anyMatch(quota -> quota.remaining() == 0);
            all.forEach(charge -> fixture.backend().reset(List.of(charge.policy()), charge.storedKey()));
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
                            ? fixture.backend()
                                    .acquireAsync(charges)
                                    .toCompletableFuture()
                                    .get(30, TimeUnit.SECONDS)
                            : fixture.backend().acquire(charges);
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
    void sendsOneScriptForOneSlotAndTwoPerSlotForSeveral() {
        long sources = fixture.calls("eval");
        long scripts = fixture.calls("evalsha");
        assertThat(acquire(window, ClusterUnderFault.charge(window.storedKey(), 1, Algorithm.TOKEN_BUCKET, 10, DAY))
                        .allowed())
                .isTrue();
        assertThat(fixture.calls("evalsha") - scripts).as("one slot").isEqualTo(1);
        scripts = fixture.calls("evalsha");
        assertThat(acquire(window, log).allowed()).isTrue();
        assertThat(fixture.calls("evalsha") - scripts).as("two slots").isEqualTo(4);
        scripts = fixture.calls("evalsha");
        assertThat(acquire(window, log, bucket).allowed()).isTrue();
        assertThat(fixture.calls("evalsha") - scripts).as("three slots").isEqualTo(6);
        scripts = fixture.calls("evalsha");
        assertThat(acquire(window, log, new Charge(bucket.policy(), bucket.storedKey(), 101))
                        .allowed())
                .isFalse();
        assertThat(fixture.calls("evalsha") - scripts)
                .as("a rejection over three slots")
                .isEqualTo(3);
        assertThat(fixture.calls("eval")).isEqualTo(sources);
    }
}
