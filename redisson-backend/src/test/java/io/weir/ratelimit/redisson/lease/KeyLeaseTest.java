// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A lease on a clock of the test, with replies that the test sends. */
class KeyLeaseTest {
    private static final long START = 1_763_638_200_000_000L;
    private static final long SECOND = 1_000_000_000;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 10_000, Duration.ofMinutes(1));
    private static final PolicyLimits POLICY = new PolicyLimits("api", List.of(LIMIT)).withLease(100);

    private final List<Charge> requests = new ArrayList<>();
    private final List<CompletableFuture<AcquireResult>> replies = new ArrayList<>();
    private final List<Long> refunds = new ArrayList<>();
    private CompletableFuture<Void> refunded = CompletableFuture.completedFuture(null);
    private long nanos;

    private final KeyLease lease = new KeyLease(
            new PermitSource() {
                @Override
                public CompletableFuture<AcquireResult> acquire(Charge charge) {
                    requests.add(charge);
                    replies.add(new CompletableFuture<>());
                    return replies.get(replies.size() - 1);
                }

                @Override
                public CompletableFuture<Void> refund(Refund refund) {
                    refunds.add(refund.charges().get(0).cost());
                    return refunded;
                }
            },
            () -> nanos,
            charge(1));

    private static Charge charge(long cost) {
        return new Charge(POLICY, "k.hot", cost);
    }

    private @Nullable LeasedPermits spend(long cost) {
        return lease.spend(charge(cost), nanos);
    }

    private void spendOneByOne(int calls) {
        for (int call = 1; call <= calls; call++) {
            assertThat(spend(1)).as("call %d of %d", call, calls).isNotNull();
        }
    }

    /** Lets Redis allow a call, after which it has some permits left. */
    private void allowedByRedis(long cost, long remaining) {
        lease.recordAllowed(cost, remaining, false, nanos);
    }

    private void reply(boolean spent) {
        Charge charge = requests.get(requests.size() - 1);
        long now = START + nanos / 1_000;
        LimitState state = LimitState.untouched(LIMIT, now).spend(LIMIT, charge.cost(), now);
        replies.get(replies.size() - 1)
                .complete(new AcquireResult(
                        List.of(new ChargeStates(charge, List.of(state))),
                        spent,
                        spent,
                        0,
                        new RedisTime(now, nanos, nanos)));
    }

    private List<Long> requested() {
        return requests.stream().map(Charge::cost).toList();
    }

    /** Lets the lease hold its hundred permits. */
    private void fill() {
        allowedByRedis(1, 9_000);
        reply(true);
        assertThat(lease.unspent()).isEqualTo(100);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 9000, false, 100",
        "1, 800, false, 100",
        "1, 799, false, 99",
        "1, 32, false, 4",
        "1, 31, false, 0",
        "1, 200, true, 100",
        "1, 199, true, 99",
        "1, 8, true, 4",
        "1, 7, true, 0",
        "3, 800, false, 99",
        "25, 800, false, 100",
        "26, 9000, false, 0",
        "7, 224, false, 28",
        "7, 223, false, 0",
    })
    void requestsAShareOfTheRemainingPermitsForWholeCalls(
            long cost, long remaining, boolean overloaded, long expected) {
        lease.recordAllowed(cost, remaining, overloaded, nanos);
        assertThat(requested()).isEqualTo(expected == 0 ? List.of() : List.of(expected));
        assertThat(requests).allMatch(request -> request.storedKey().equals("k.hot"));
    }

    @Test
    void requestsTheNextPermitsWhenAQuarterIsLeft() {
        fill();
        spendOneByOne(74);
        assertThat(requested()).as("26 permits are left").containsExactly(100L);
        spendOneByOne(1);
        assertThat(requested()).as("25 permits are left").containsExactly(100L, 75L);
        spendOneByOne(25);
        assertThat(requested()).as("one request at a time").containsExactly(100L, 75L);
        assertThat(spend(1)).isNull();
        reply(true);
        assertThat(lease.unspent()).isEqualTo(75);
        spendOneByOne(50);
        assertThat(requested()).as("25 permits are left").containsExactly(100L, 75L, 75L);
        assertThat(refunds).isEmpty();
    }

    @Test
    void theRequestOfPermitsThatArriveInTimeIsForWhatTheLeaseHasPlaceFor() {
        fill();
        spendOneByOne(75);
        reply(true);
        assertThat(lease.unspent()).isEqualTo(100);
        assertThat(lease.hasPlaceFor(1)).isFalse();
        spendOneByOne(25);
        assertThat(requested()).as("the next permits are there").containsExactly(100L, 75L);
        spendOneByOne(50);
        assertThat(requested()).containsExactly(100L, 75L, 75L);
    }

    @Test
    void aReplyWithoutPermitsIsFollowedByAPauseOfATenthOfASecond() {
        allowedByRedis(1, 9_000);
        reply(false);
        assertThat(lease.unspent()).isZero();
        nanos = SECOND / 10 - 1;
        allowedByRedis(1, 9_000);
        assertThat(requested()).hasSize(1);
        nanos = SECOND / 10;
        allowedByRedis(1, 9_000);
        assertThat(requested()).hasSize(2);
        replies.get(1).completeExceptionally(new IllegalStateException("the connection is lost"));
        nanos += SECOND / 10 - 1;
        allowedByRedis(1, 9_000);
        assertThat(requested()).hasSize(2);
        nanos++;
        allowedByRedis(1, 9_000);
        assertThat(requested()).hasSize(3);
    }

    @Test
    void aRequestThatIsNotWorthSendingIsConsideredAgainAfterAMillisecond() {
        allowedByRedis(1, 31);
        nanos = SECOND / 1_000 - 1;
        allowedByRedis(1, 9_000);
        assertThat(requested()).isEmpty();
        nanos++;
        allowedByRedis(1, 9_000);
        assertThat(requested()).containsExactly(100L);
    }

    @Test
    void aCallThatIsTooLargeForTheRestTakesTheNextPermits() {
        fill();
        spendOneByOne(75);
        assertThat(spend(26)).as("no next permits").isNull();
        assertThat(lease.unspent()).isEqualTo(25);
        reply(true);
        assertThat(spend(26)).isNotNull();
        assertThat(refunds).as("the rest returns to Redis").containsExactly(25L);
        assertThat(lease.unspent()).isEqualTo(49);
    }

    @Test
    void permitsReturnToTheLeaseWhileItHasPlace() {
        fill();
        LeasedPermits permits = Objects.requireNonNull(spend(10));
        assertThat(lease.hasPlaceFor(10)).isTrue();
        assertThat(lease.hasPlaceFor(11)).isFalse();
        permits.refund(nanos);
        assertThat(lease.unspent()).isEqualTo(100);
        assertThat(refunds).isEmpty();
        permits.refund(nanos);
        assertThat(lease.unspent()).as("the lease is full").isEqualTo(100);
        assertThat(refunds).containsExactly(10L);
    }

    @Test
    void requestedPermitsNeedAPlaceToo() {
        fill();
        spendOneByOne(75);
        assertThat(requested()).containsExactly(100L, 75L);
        assertThat(lease.hasPlaceFor(1)).isFalse();
        reply(false);
        assertThat(lease.hasPlaceFor(75)).isTrue();
        assertThat(lease.hasPlaceFor(76)).isFalse();
    }

    @Test
    void aChargeOfTheSameWindowIsRefundedToTheLease() {
        fill();
        LimitState inWindow = LimitState.untouched(LIMIT, START).spend(LIMIT, 5, START);
        ChargeStates charged = new ChargeStates(charge(5), List.of(inWindow));
        assertThat(lease.refund(charged, nanos)).as("the lease is full").isFalse();
        spendOneByOne(5);
        assertThat(lease.refund(charged, nanos)).isTrue();
        assertThat(lease.unspent()).isEqualTo(100);
        spendOneByOne(5);
        long later = START + 60_000_000;
        LimitState inNextWindow = LimitState.untouched(LIMIT, later).spend(LIMIT, 5, later);
        assertThat(lease.refund(new ChargeStates(charge(5), List.of(inNextWindow)), nanos))
                .isFalse();
        assertThat(lease.unspent()).isEqualTo(95);
    }

    @Test
    void aClosedLeaseRefundsAllAndRequestsNothing() {
        fill();
        spendOneByOne(75);
        refunded = new CompletableFuture<>();
        CompletableFuture<Void> closed = lease.close(false, nanos);
        assertThat(refunds).containsExactly(25L);
        assertThat(lease.unspent()).isZero();
        assertThat(spend(1)).isNull();
        assertThat(lease.hasPlaceFor(1)).isFalse();
        CompletableFuture<Void> first = refunded;
        refunded = new CompletableFuture<>();
        reply(true);
        assertThat(refunds).as("those of the request as well").containsExactly(25L, 75L);
        first.complete(null);
        assertThat(closed).isNotDone();
        refunded.complete(null);
        assertThat(closed).isDone();
        nanos = SECOND;
        allowedByRedis(1, 9_000);
        assertThat(requested()).hasSize(2);
    }

    @Test
    void aLeaseOfARemovedStateRefundsNothing() {
        fill();
        spendOneByOne(75);
        CompletableFuture<Void> closed = lease.close(true, nanos);
        assertThat(closed).isNotDone();
        reply(true);
        assertThat(closed).isDone();
        assertThat(refunds).isEmpty();
        assertThat(lease.unspent()).isZero();
    }

    @Test
    void anIdleLeaseIsClosedByTheLastOfTheChecks() {
        fill();
        assertThat(lease.check(2, nanos))
                .as("permits have arrived since the start")
                .isNull();
        assertThat(lease.check(2, nanos)).isNull();
        spendOneByOne(1);
        assertThat(lease.check(2, nanos)).as("a call since the check before").isNull();
        assertThat(lease.check(2, nanos)).isNull();
        assertThat(lease.check(2, nanos)).isCompleted();
        assertThat(refunds).containsExactly(99L);
        assertThat(lease.unspent()).isZero();
    }

    @Test
    void aLeaseIsNotClosedWhilePermitsAreRequested() {
        allowedByRedis(1, 9_000);
        for (int check = 0; check < 5; check++) {
            assertThat(lease.check(1, nanos)).isNull();
        }
        reply(true);
        assertThat(lease.unspent()).isEqualTo(100);
        assertThat(lease.check(1, nanos)).as("permits have arrived").isNull();
        assertThat(lease.check(1, nanos)).isCompleted();
    }

    @Test
    void aCheckReplacesExpiredPermits() {
        fill();
        nanos = 60 * SECOND;
        assertThat(lease.check(10, nanos)).isNull();
        assertThat(lease.unspent()).as("the window has ended").isZero();
        assertThat(refunds).as("the window counts no longer").isEmpty();
        allowedByRedis(1, 9_000);
        assertThat(requested()).containsExactly(100L, 100L);
    }

    @Test
    void aLeaseIsOfItsLimitsOnly() {
        assertThat(lease.isOf(new PolicyLimits("api", List.of(LIMIT)).withLease(100)))
                .isTrue();
        assertThat(lease.isOf(POLICY.withLease(50))).isFalse();
        Limit other = Limit.of(Algorithm.FIXED_WINDOW, 9_999, Duration.ofMinutes(1));
        assertThat(lease.isOf(new PolicyLimits("api", List.of(other)).withLease(100)))
                .isFalse();
        assertThat(lease.charge()).isEqualTo(charge(1));
    }
}
