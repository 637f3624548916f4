// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits taken ahead on a real Redis, by one instance. */
class LeasesTest {
    private static final Limit WIDE = LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 100_000);

    private final TestStore store = TestStore.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
    private final RedissonBackend other =
            new RedissonBackend(store.client(), store.namespace(), Duration.ofSeconds(20));

    @BeforeEach
    void connect() {
        store.ready();
        FaultCalls.awaitDecision(other);
        redis.drop(store.pattern());
    }

    @AfterEach
    void disconnect() {
        store.close();
        redis.close();
    }

    private LeasedCalls calls(long lease, Limit... limits) {
        return calls(LeasedCalls.charge(lease, limits));
    }

    private LeasedCalls calls(Charge charge) {
        return new LeasedCalls(store.backend(), other, charge);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void redisHearsOfFewCallsOnABusyKeyAndAllOfTheLimitCanBeSpent(Algorithm algorithm) {
        LeasedCalls calls = calls(100, LeasedCalls.monthly(algorithm, 5_000)).hot();
        long before = redis.calls("evalsha");
        assertThat(calls.calls(1_000)).allMatch(Decision::allowed);
        assertThat(redis.calls("evalsha") - before).isLessThan(100);
        calls.untilRefused();
        assertThat(calls.admitted()).isEqualTo(5_000);
    }

    @Test
    void aKeyThatIsNotBusyIsChargedCallByCall() {
        LeasedCalls calls = calls(100, WIDE);
        calls.calls(Busyness.BUSY - 1);
        assertThat(calls.spentInRedis()).isEqualTo(calls.admitted());
    }

    @Test
    void theQuotasOfCallsCountPermitsOfThisInstanceThatNobodyHasSpentAsFree() {
        LeasedCalls calls = calls(100, WIDE).hot();
        // A call that went to Redis behind the request for these permits is known with the next ones.
        Await.until("what was admitted is told", LeasedCalls.SOON, () -> {
            Quota told = calls.call().quotas().get(0);
            return told.capacity() - told.remaining() == calls.admitted();
        });
    }

    @Test
    void unspentPermitsGoBackWhenNobodyCallsForASecond() {
        calls(100, WIDE).hot().awaitAllGivenBack();
    }

    @Test
    void unspentPermitsGoBackWhenTheStoreIsClosed() {
        LeasedCalls calls = calls(1_000, WIDE).hot();
        store.backend().close();
        assertThat(calls.spentInRedis()).isEqualTo(calls.admitted());
    }

    @Test
    void unspentPermitsOfASlidingWindowGoBackAtItsEndSoThatTheyDoNotWeighOnTheNext() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10_000, Duration.ofMillis(700));
        LeasedCalls calls = calls(1_000, limit);
        String key = store.key("k.hot", "s700");
        Await.until("permits go back at the end of a window in which all calls were", LeasedCalls.SOON, () -> {
            Await.until("nothing is left of the windows before", LeasedCalls.SOON, () -> redis.bytes(key) == null);
            long before = calls.admitted();
            calls.hot();
            long start = start(key);
            Await.until("it ends", LeasedCalls.SOON, () -> redis.number("PTTL", key) < 650);
            long spent = ByteBuffer.wrap(redis.bytes(key), 5, 8).getLong() & 0xffffffffffffL;
            return start(key) == start && spent == calls.admitted() - before;
        });
    }

    private long start(String key) {
        return ByteBuffer.wrap(redis.bytes(key)).getLong() >>> 8;
    }

    @Test
    void whatIsGivenBackByReceiptCanBeSpentAgain() {
        LeasedCalls calls =
                calls(50, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 3_000)).hot();
        List<Decision> admitted = calls.calls(500);
        admitted.forEach(each -> store.backend().giveBack(((Decision.Allowed) each).receipt()));
        admitted.forEach(each -> store.backend().giveBack(((Decision.Allowed) each).receipt()));
        calls.untilRefused();
        assertThat(calls.admitted()).isEqualTo(3_500);
    }

    @Test
    void callsWhoseChargesAreGivenBackAtOnceCostRedisNothing() {
        LeasedCalls calls = calls(100, WIDE).hot();
        long before = redis.calls("evalsha");
        for (int i = 0; i < 500; i++) {
            CompletionStage<Void> given = store.backend().giveBackAsync(((Decision.Allowed) calls.call()).receipt());
            assertThat(given.toCompletableFuture()).succeedsWithin(LeasedCalls.SOON);
        }
        assertThat(redis.calls("evalsha") - before).isLessThan(50);
        Await.until("all of it went back", LeasedCalls.SOON, () -> calls.spentInRedis() == calls.admitted() - 500);
    }

    @Test
    void aResetDropsWhatIsHeldAsWell() {
        LeasedCalls calls =
                calls(200, LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 4_000)).hot();
        long before = calls.admitted();
        store.backend()
                .reset(
                        LeasedCalls.charge(200, LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 4_000))
                                .policy(),
                        "k.hot");
        calls.untilRefused();
        assertThat(calls.admitted() - before).isEqualTo(4_000);
    }

    @Test
    void moreIsNeverRefundedThanWasSpent() {
        Limit limit = LeasedCalls.monthly(Algorithm.TOKEN_BUCKET, 4_000);
        LeasedCalls calls = calls(200, limit).hot();
        long before = calls.admitted();
        Charge refund = LeasedCalls.charge(200, limit);
        store.backend().giveBack(new Charge(refund.policy(), refund.identity(), 3_000));
        calls.untilRefused();
        assertThat(calls.admitted() - before).isEqualTo(4_000);
    }

    @Test
    void aChangedLimitIsHeldFromTheNextCallAndWhatWasHeldUnderTheOldOneGoesBack() {
        LeasedCalls old = calls(200, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 40_000))
                .hot();
        LeasedCalls changed = calls(200, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 5_000));
        changed.call();
        old.awaitGivenBack(changed.admitted());
        changed.untilRefused();
        assertThat(old.admitted() + changed.admitted()).isEqualTo(5_000);
    }

    @Test
    void callersOfTwoTiersOnOneKeyAreNeverAdmittedMoreThanTheirOwnLimit() {
        Charge basic = tier("basic", 2_000);
        Charge gold = tier("gold", 6_000);
        LeasedCalls ofBasic = calls(basic);
        LeasedCalls ofGold = calls(gold);
        ofBasic.hot();
        ofGold.call();
        ofBasic.untilRefused();
        assertThat(ofBasic.admitted() + ofGold.admitted()).isEqualTo(2_000);
        ofGold.untilRefused();
        assertThat(ofBasic.admitted() + ofGold.admitted()).isEqualTo(6_000);
    }

    private static Charge tier(String tier, long permits) {
        Limit limit = LeasedCalls.monthly(Algorithm.FIXED_WINDOW, permits);
        return new Charge(new PolicyLimits(TestStore.POLICY, tier, List.of(limit)).withLease(100), "k.hot", 1);
    }

    @Test
    void aDecisionOfALeasedAndAnotherPolicyIsAllOrNothing() {
        LeasedCalls calls = calls(100, WIDE).hot();
        Charge wide = LeasedCalls.charge(100, WIDE);
        Limit ten = LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 10);
        Charge narrow = new Charge(new PolicyLimits("narrow", List.of(ten)), "k.hot", 1);
        long before = calls.admitted();
        for (int i = 0; i < 200; i++) {
            boolean first = i % 2 == 0;
            Decision decision =
                    calls.counted(store.backend().acquire(first ? List.of(wide, narrow) : List.of(narrow, wide)));
            assertThat(decision.quotas())
                    .extracting(Quota::policy)
                    .containsExactly(first ? "api" : "narrow", first ? "narrow" : "api");
            if (decision instanceof Decision.Rejected refused) {
                assertThat(refused.violatedPolicies()).containsExactly("narrow");
            } else {
                BackendReceipt receipt = (BackendReceipt) ((Decision.Allowed) decision).receipt();
                assertThat(receipt.charges()).containsExactly(first ? wide : narrow, first ? narrow : wide);
            }
        }
        assertThat(calls.admitted() - before).isEqualTo(10);
        calls.awaitAllGivenBack();
    }

    @Test
    void callsThatDoNotWaitForTheirAnswerSpendFromMemoryToo() {
        LeasedCalls calls = calls(100, WIDE).hot();
        Charge charge = LeasedCalls.charge(100, WIDE);
        long before = redis.calls("evalsha");
        for (int i = 0; i < 1_000; i++) {
            calls.counted(store.backend()
                    .acquireAsync(List.of(charge))
                    .toCompletableFuture()
                    .join());
        }
        assertThat(redis.calls("evalsha") - before).isLessThan(200);
        calls.awaitAllGivenBack();
    }
}
