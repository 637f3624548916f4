// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.List;
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
    void itsTextDoesNotSayWhoWasCharged() {
        assertThat(new BackendReceipt(List.of(two, one), states).toString())
                .startsWith("Receipt[Charge[two[")
                .doesNotContain("alice");
    }
}
