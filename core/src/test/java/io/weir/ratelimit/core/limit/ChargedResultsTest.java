// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChargedResultsTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));

    private final Charge charge = new Charge(API, "p.ann", 1);
    private final LimitState state = new FixedWindowState(0, 9);
    private final ChargedResults results = new ChargedResults(charge, state, 0);

    @Test
    void theResultIsCalculatedOnceAndEqualsThatOfTheState() {
        assertThat(results).containsExactly(new ChargeStates(charge, List.of(state)).result(true, 0));
        assertThat(results.get(0)).isSameAs(results.get(0));
        assertThat(results.get(0).quotas()).singleElement().satisfies(quota -> {
            assertThat(results.remaining()).isEqualTo(quota.remaining());
            assertThat(results.capacity()).isEqualTo(quota.capacity());
        });
        assertThatThrownBy(() -> results.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void onlyAnEvaluatedShadowChargeHasShadowQuotas() {
        ChargeResult result = results.get(0);
        ChargeResult shadow = new ChargeResult("api", true, result.quotas());
        assertThat(ChargedResults.hasShadowQuotas(new Decision.Allowed(results, Receipt.EMPTY)))
                .isFalse();
        assertThat(ChargedResults.hasShadowQuotas(new Decision.Allowed(List.of(result), Receipt.EMPTY)))
                .isFalse();
        assertThat(ChargedResults.hasShadowQuotas(
                        new Decision.Allowed(List.of(ChargeStates.unknown(charge.asShadow())), Receipt.EMPTY)))
                .isFalse();
        assertThat(ChargedResults.hasShadowQuotas(new Decision.Allowed(List.of(shadow), Receipt.EMPTY)))
                .isTrue();
    }
}
