// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
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
    private final List<LimitState> states =
            List.of(new SlidingWindowState(1, 3, 0), new TokenBucketState(2, 3, 0), new TokenBucketState(3, 3, 0));

    @Test
    void eachChargeHasTheStatesOfItsLimits() {
        List<BackendReceipt.Entry> entries = new BackendReceipt(List.of(two, one), states).use();
        assertThat(entries)
                .containsExactly(
                        new BackendReceipt.Entry(two, states.subList(0, 2)),
                        new BackendReceipt.Entry(one, states.subList(2, 3)));
    }

    @Test
    void itCanBeUsedOnce() {
        BackendReceipt receipt = new BackendReceipt(List.of(two, one), states);
        assertThat(receipt.use()).hasSize(2);
        assertThat(receipt.use()).isEmpty();
    }

    @Test
    void aPartIsTakenOutOfTheWhole() {
        BackendReceipt receipt = new BackendReceipt(List.of(two, one), states);
        BackendReceipt part = receipt.part(one::equals);
        assertThat(part.charges()).containsExactly(one);
        assertThat(receipt.use()).containsExactly(new BackendReceipt.Entry(two, states.subList(0, 2)));
        assertThat(part.use()).containsExactly(new BackendReceipt.Entry(one, states.subList(2, 3)));
        assertThat(part.use()).isEmpty();
        assertThat(receipt.use()).isEmpty();
    }

    @Test
    void aChargeIsInOnePartOnly() {
        BackendReceipt receipt = new BackendReceipt(List.of(two, one), states);
        assertThat(receipt.part(two::equals).use()).hasSize(1);
        assertThat(receipt.part(charge -> true).charges()).containsExactly(one);
        assertThat(receipt.part(charge -> true).charges()).isEmpty();
        assertThat(receipt.use()).isEmpty();
    }

    @Test
    void aPartOfAUsedReceiptIsEmpty() {
        BackendReceipt receipt = new BackendReceipt(List.of(two, one), states);
        assertThat(receipt.use()).hasSize(2);
        assertThat(receipt.part(one::equals).use()).isEmpty();
        assertThat(receipt.charges()).containsExactly(two, one);
    }

    @Test
    void threadsThatTakePartsAndTheWholeAtOnceGetEachChargeOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 2_000; round++) {
                BackendReceipt receipt = new BackendReceipt(List.of(two, one), states);
                CyclicBarrier start = new CyclicBarrier(4);
                List<Callable<List<BackendReceipt.Entry>>> takers = List.of(
                        receipt::use,
                        () -> receipt.part(one::equals).use(),
                        () -> receipt.part(two::equals).use(),
                        () -> receipt.part(charge -> true).use());
                List<Charge> taken = new ArrayList<>();
                List<Callable<List<BackendReceipt.Entry>>> atOnce = takers.stream()
                        .map(taker -> (Callable<List<BackendReceipt.Entry>>) () -> {
                            start.await();
                            return taker.call();
                        })
                        .toList();
                for (Future<List<BackendReceipt.Entry>> each : threads.invokeAll(atOnce)) {
                    each.get().forEach(entry -> taken.add(entry.charge()));
                }
                assertThat(taken).containsExactlyInAnyOrder(two, one);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void itsTextDoesNotSayWhoWasCharged() {
        assertThat(new BackendReceipt(List.of(two, one), states).toString())
                .startsWith("Receipt[Charge[two[")
                .doesNotContain("alice");
    }
}
