// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.TestedBackend;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases of one instance on a real Redis. */
@Tag("redis")
class LeasesTest {
    private static final Limit WIDE = LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 100_000);

    private final ManualTimer timer = new ManualTimer();
    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address(), Duration.ofSeconds(20), timer);
    private final RedisConnection redis = RedisFixture.shared().connect();
    private RedissonBackend other;

    @BeforeEach
    void connect() {
        fixture.ready();
        other = fixture.another();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        other.close();
        fixture.close();
        redis.close();
    }

    private LeasedCalls calls(long lease, Limit... limits) {
        return calls(LeasedCalls.charge(lease, limits));
    }

    private LeasedCalls calls(Charge charge) {
        return new LeasedCalls(fixture.backend(), other, charge, timer::run);
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void aHotKeyCallsRedisRarelyAndCanSpendTheWholeLimit(Algorithm algorithm) {
        LeasedCalls calls = calls(100, LeasedCalls.monthly(algorithm, 5_000)).hot();
        long before = redis.calls("evalsha");
        assertThat(calls.calls(1_000)).allMatch(Decision::allowed);
        assertThat(redis.calls("evalsha") - before).isLessThan(100);
        calls.spendAll(5_000);
    }

    @Test
    void aKeyThatIsNotHotIsChargedCallByCall() {
        LeasedCalls calls = calls(100, WIDE);
        calls.calls(HotKeyDetector.HOT - 1);
        assertThat(calls.spentInRedis()).isEqualTo(calls.allowed());
    }

    @Test
    void quotasCountUnspentPermitsOfTheInstanceAsRemaining() {
        LeasedCalls calls = calls(100, WIDE).hot();
        // Only the next grant counts the calls that Redis decided after the request for this grant.
        Await.until("the quota contains all allowed calls", LeasedCalls.SOON, () -> {
            Quota quota = calls.call().quotas().get(0);
            return quota.capacity() - quota.remaining() == calls.allowed();
        });
    }

    @Test
    void refundsUnspentPermitsAfterTenChecksWithoutCalls() {
        calls(100, WIDE).hot().awaitAllRefunds();
    }

    @Test
    void refundsUnspentPermitsOnClose() {
        LeasedCalls calls = calls(1_000, WIDE).hot();
        fixture.backend().close();
        assertThat(calls.spentInRedis()).isEqualTo(calls.allowed());
    }

    @Test
    void refundsUnspentPermitsOfASlidingWindowAtItsEnd() {
        String key = fixture.key("k.hot");
        Await.until("permits are refunded at the end of the window of all calls", LeasedCalls.SOON, () -> {
            Await.until("nothing is left of the windows before", LeasedCalls.SOON, () -> redis.bytes(key) == null);
            return refundsAtTheEndOfTheWindow(key);
        });
    }

    /** Returns false if the calls were not all in one window, or its state has expired before it was read. */
    private boolean refundsAtTheEndOfTheWindow(String key) {
        LeasedCalls calls = calls(1_000, Limit.of(Algorithm.SLIDING_WINDOW, 10_000, Duration.ofMillis(700)))
                .hot();
        long start = start(redis.bytes(key));
        AtomicReference<byte[]> state = new AtomicReference<>();
        Await.until("all permits are refunded, or the next window ends", LeasedCalls.SOON, () -> {
            timer.run();
            boolean ended = redis.number("PTTL", key) < 650;
            state.set(redis.bytes(key));
            return state.get() == null || ended && start(state.get()) == start && spent(state.get()) == calls.allowed();
        });
        return state.get() != null;
    }

    private static long start(byte[] state) {
        return state == null ? -1 : ByteBuffer.wrap(state, 6, 8).getLong() >>> 8;
    }

    private static long spent(byte[] state) {
        return ByteBuffer.wrap(state, 11, 8).getLong() & 0xffffffffffffL;
    }

    @Test
    void permitsRefundedByReceiptCanBeSpentAgain() {
        LeasedCalls calls =
                calls(50, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 3_000)).hot();
        List<Decision> allowed = calls.calls(500);
        allowed.forEach(each -> new TestedBackend(fixture.backend()).refund(((Decision.Allowed) each).receipt()));
        allowed.forEach(each -> new TestedBackend(fixture.backend()).refund(((Decision.Allowed) each).receipt()));
        calls.spendAll(3_500);
    }

    @Test
    void callsThatAreRefundedAtOnceDoNotCallRedis() {
        LeasedCalls calls = calls(100, WIDE).hot();
        long before = redis.calls("evalsha");
        for (int i = 0; i < 500; i++) {
            CompletionStage<Void> refunded = fixture.backend().refund(((Decision.Allowed) calls.call()).receipt());
            assertThat(refunded.toCompletableFuture()).succeedsWithin(LeasedCalls.SOON);
        }
        assertThat(redis.calls("evalsha") - before).isLessThan(50);
        calls.awaitRefunds(-500);
    }

    @Test
    void aResetDropsLeasedPermits() {
        LeasedCalls calls =
                calls(200, LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 4_000)).hot();
        long before = calls.allowed();
        fixture.backend()
                .reset(
                        List.of(LeasedCalls.charge(200, LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 4_000))
                                .policy()),
                        "k.hot");
        calls.spendAll(before + 4_000);
    }

    @Test
    void neverRefundsMoreThanWasSpent() {
        Limit limit = LeasedCalls.monthly(Algorithm.TOKEN_BUCKET, 4_000);
        LeasedCalls calls = calls(200, limit).hot();
        long before = calls.allowed();
        Charge refund = LeasedCalls.charge(200, limit);
        fixture.backend()
                .refund(new Charge(refund.policy(), refund.storedKey(), 3_000))
                .toCompletableFuture()
                .join();
        calls.spendAll(before + 4_000);
    }

    @Test
    void aChangedLimitAppliesFromTheNextCallAndRefundsTheOldLease() {
        LeasedCalls old = calls(200, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 40_000))
                .hot();
        LeasedCalls changed = calls(200, LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 5_000));
        changed.call();
        old.awaitRefunds(changed.allowed());
        changed.spendAll(5_000 - old.allowed());
    }

    @Test
    void twoTiersOfOneKeyNeverExceedTheirOwnLimits() {
        Charge basic = tier("basic", 2_000);
        Charge gold = tier("gold", 6_000);
        LeasedCalls ofBasic = calls(basic);
        LeasedCalls ofGold = calls(gold);
        ofBasic.hot();
        ofGold.call();
        ofBasic.spendAll(2_000 - ofGold.allowed());
        ofGold.spendAll(6_000 - ofBasic.allowed());
    }

    private static Charge tier(String tier, long permits) {
        Limit limit = LeasedCalls.monthly(Algorithm.FIXED_WINDOW, permits);
        return new Charge(new PolicyLimits(TestBackend.POLICY, tier, List.of(limit)).withLease(100), "k.hot", 1);
    }

    @Test
    void aDecisionOfALeasedAndAnotherPolicyIsAllOrNothing() {
        LeasedCalls calls = calls(100, WIDE).hot();
        Charge wide = LeasedCalls.charge(100, WIDE);
        Limit ten = LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 10);
        Charge narrow = new Charge(new PolicyLimits("narrow", List.of(ten)), "k.hot", 1);
        long before = calls.allowed();
        for (int i = 0; i < 200; i++) {
            boolean first = i % 2 == 0;
            Decision decision =
                    calls.counted(fixture.backend().acquire(first ? List.of(wide, narrow) : List.of(narrow, wide)));
            assertThat(decision.quotas())
                    .extracting(Quota::policy)
                    .containsExactly(first ? "api" : "narrow", first ? "narrow" : "api");
            if (decision instanceof Decision.Rejected rejected) {
                assertThat(rejected.violatedPolicies()).containsExactly("narrow");
            } else {
                BackendReceipt receipt = (BackendReceipt) ((Decision.Allowed) decision).receipt();
                assertThat(receipt.charges()).containsExactly(first ? wide : narrow, first ? narrow : wide);
            }
        }
        assertThat(calls.allowed() - before).isEqualTo(10);
        calls.awaitAllRefunds();
    }

    @Test
    void asynchronousCallsSpendLeasedPermits() {
        LeasedCalls calls = calls(100, WIDE).hot();
        Charge charge = LeasedCalls.charge(100, WIDE);
        long before = redis.calls("evalsha");
        for (int i = 0; i < 1_000; i++) {
            calls.counted(fixture.backend()
                    .acquireAsync(List.of(charge))
                    .toCompletableFuture()
                    .join());
        }
        assertThat(redis.calls("evalsha") - before).isLessThan(200);
        calls.awaitAllRefunds();
    }
}
