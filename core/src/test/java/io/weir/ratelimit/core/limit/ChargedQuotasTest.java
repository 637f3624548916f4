// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChargedQuotasTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));

    private final Charge charge = new Charge(API, "p.ann", 1);
    private final LimitState state = new FixedWindowState(0, 9);
    private final ChargedQuotas quotas = new ChargedQuotas(charge, state, 0);

    @Test
    void theQuotaIsCalculatedOnceAndEqualsThatOfTheState() {
        assertThat(quotas).hasSize(1).containsExactly(QuotaCalculator.quota(charge, 0, state, true, 0));
        assertThat(quotas.get(0)).isSameAs(quotas.get(0));
        assertThat(quotas.remaining()).isEqualTo(quotas.get(0).remaining());
        assertThat(quotas.capacity()).isEqualTo(10);
        assertThatThrownBy(() -> quotas.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void isTheOnlyResultOfADecision() {
        assertThat(quotas.asResults())
                .containsExactly(new ChargeStates(charge, List.of(state)).result(true, 0))
                .extracting(ChargeResult::shadow)
                .containsExactly(false);
    }
}
