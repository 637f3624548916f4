// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChargeTest {
    private final PolicyLimits policy =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1))));

    @Test
    void chargeDoesNotWaitByDefault() {
        assertThat(new Charge(policy, "p.alice", 2).maxWaitMicros()).isZero();
        assertThat(new Charge(policy, "p.alice", 2, 30).maxWaitMicros()).isEqualTo(30);
        assertThat(new Charge(policy, "p.alice", 2, 30)).hasToString("Charge[" + policy + ", cost=2, maxWait=30 µs]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Charge(policy, "p.alice", 2, -1))
                .withMessage("maxWaitMicros must not be negative");
    }

    @Test
    void shadowChargeDoesNotWait() {
        Charge charge = new Charge(policy, "p.alice", 2, 30);
        assertThat(charge.shadow()).isFalse();
        assertThat(charge.asShadow()).isEqualTo(new Charge(policy, "p.alice", 2, 0, true));
        assertThat(charge.asShadow()).hasToString("Charge[" + policy + ", cost=2, shadow]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Charge(policy, "p.alice", 2, 30, true))
                .withMessage("a shadow charge does not wait");
    }

    @Test
    void withoutMaxWaitKeepsEverythingElse() {
        assertThat(new Charge(policy, "p.alice", 2, 30).withoutMaxWait()).isEqualTo(new Charge(policy, "p.alice", 2));
        Charge shadow = new Charge(policy, "p.alice", 2).asShadow();
        assertThat(shadow.withoutMaxWait()).isEqualTo(shadow);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void rejectsACostBelowOne(long cost) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Charge(policy, "p.alice", cost))
                .withMessage("cost must be at least 1");
    }

    @Test
    void textDoesNotShowTheStoredKey() {
        assertThat(new Charge(policy, "p.alice", 3)).hasToString("Charge[api[10/1s sliding-window], cost=3]");
    }
}
