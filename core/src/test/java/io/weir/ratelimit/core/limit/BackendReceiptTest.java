// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class BackendReceiptTest {
    private final Limit second = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1));
    private final Limit hour = Limit.of(Algorithm.TOKEN_BUCKET, 100, Duration.ofHours(1));
    private final Charge two = new Charge(new PolicyLimits("two", List.of(second, hour)), "p.alice", 3);
    private final Charge one = new Charge(new PolicyLimits("one", List.of(hour)), "p.alice", 3);
    private final ChargeStates ofTwo =
            new ChargeStates(two, List.of(new SlidingWindowState(1, 3, 0), new TokenBucketState(2, 3, 0)));
    private final ChargeStates ofOne = new ChargeStates(one, List.of(new TokenBucketState(3, 3, 0)));
    private final BackendReceipt receipt = new BackendReceipt(List.of(ofTwo, ofOne));

    @Test
    void claimReturnsEachChargeWithItsStates() {
        assertThat(receipt.claim()).containsExactly(ofTwo, ofOne);
    }

    @Test
    void aReceiptOfOneLimitIsClaimedOnce() {
        BackendReceipt only = new BackendReceipt(one, new TokenBucketState(3, 3, 0));
        assertThat(only.charges()).containsExactly(one);
        BackendReceipt part = only.split(one::equals);
        assertThat(only.claim()).isEmpty();
        assertThat(part.claim()).containsExactly(ofOne);
        assertThat(part.claim()).isEmpty();
    }

    @Test
    void chargesAreClaimedOnce() {
        assertThat(receipt.claim()).hasSize(2);
        assertThat(receipt.claim()).isEmpty();
    }

    @Test
    void aPartIsRemovedFromTheWhole() {
        BackendReceipt part = receipt.split(one::equals);
        assertThat(part.charges()).containsExactly(one);
        assertThat(receipt.claim()).containsExactly(ofTwo);
        assertThat(part.claim()).containsExactly(ofOne);
        assertThat(part.claim()).isEmpty();
        assertThat(receipt.claim()).isEmpty();
    }

    @Test
    void aChargeIsInOnePartOnly() {
        assertThat(receipt.split(two::equals).claim()).hasSize(1);
        assertThat(receipt.split(charge -> true).charges()).containsExactly(one);
        assertThat(receipt.split(charge -> true).charges()).isEmpty();
        assertThat(receipt.claim()).isEmpty();
    }

    @Test
    void aPartOfAClaimedReceiptIsEmpty() {
        assertThat(receipt.claim()).hasSize(2);
        assertThat(receipt.split(one::equals).claim()).isEmpty();
        assertThat(receipt.charges()).containsExactly(two, one);
    }

    @Test
    void afterAFailedSettlementARefundReturnsTheReservedCostAtMost() {
        assertThat(receipt.settle(one::equals, 20)).containsExactly(ofOne);
        receipt.settlementFailed(List.of(one));
        assertThat(receipt.settle(one::equals, 20))
                .as("it is settled all the same")
                .isEmpty();
        assertThat(receipt.settle(two::equals, 1)).containsExactly(ofTwo);
        receipt.settlementFailed(List.of(two));
        assertThat(costs(receipt)).containsExactly(1L, 3L);
    }

    @Test
    void aFailedSettlementChangesNoOtherCharge() {
        receipt.settle(charge -> true, 20);
        receipt.settlementFailed(List.of(one));
        assertThat(costs(receipt)).containsExactly(20L, 3L);
    }

    @Test
    void aPartHasTheSettledCosts() {
        receipt.settle(two::equals, 1);
        receipt.settle(one::equals, 20);
        assertThat(costs(receipt.split(charge -> true))).containsExactly(1L, 20L);
    }

    private static List<Long> costs(BackendReceipt receipt) {
        return receipt.claim().stream().map(charged -> charged.charge().cost()).toList();
    }

    @Test
    void concurrentClaimsAndPartsGetEachChargeOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 2_000; round++) {
                BackendReceipt shared = new BackendReceipt(List.of(ofTwo, ofOne));
                CyclicBarrier start = new CyclicBarrier(4);
                List<Callable<List<ChargeStates>>> claims = List.of(
                        shared::claim,
                        () -> shared.split(one::equals).claim(),
                        () -> shared.split(two::equals).claim(),
                        () -> shared.split(charge -> true).claim());
                List<Charge> claimed = new ArrayList<>();
                List<Callable<List<ChargeStates>>> atOnce = claims.stream()
                        .map(claim -> (Callable<List<ChargeStates>>) () -> {
                            start.await();
                            return claim.call();
                        })
                        .toList();
                for (Future<List<ChargeStates>> each : threads.invokeAll(atOnce)) {
                    each.get().forEach(states -> claimed.add(states.charge()));
                }
                assertThat(claimed).containsExactlyInAnyOrder(two, one);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void itsTextDoesNotContainStoredKeys() {
        assertThat(receipt.toString()).startsWith("Receipt[Charge[two[").doesNotContain("alice");
    }
}
