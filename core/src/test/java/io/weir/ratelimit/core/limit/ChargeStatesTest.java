// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChargeStatesTest {
    private final Limit second = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(1));
    private final Limit hour = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
    private final Charge two = new Charge(new PolicyLimits("two", List.of(second, hour)), "p.alice", 3);
    private final Charge one = new Charge(new PolicyLimits("one", List.of(hour)), "p.alice", 3);

    @Test
    void splitsStatesByCharge() {
        List<LimitState> states =
                List.of(new FixedWindowState(1, 3), new FixedWindowState(2, 3), new FixedWindowState(3, 3));
        assertThat(ChargeStates.split(List.of(two, one), states))
                .containsExactly(
                        new ChargeStates(two, states.subList(0, 2)), new ChargeStates(one, states.subList(2, 3)));
    }

    @Test
    void requiresOneStatePerLimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ChargeStates(two, List.of(new FixedWindowState(1, 3))))
                .withMessageContaining("one state per limit")
                .withMessageNotContaining("alice");
    }

    @Test
    void calculatesOneQuotaPerLimit() {
        ChargeStates states = new ChargeStates(two, List.of(new FixedWindowState(5, 3), new FixedWindowState(5, 30)));
        assertThat(states.quotas(true, 5)).extracting(Quota::name).containsExactly("two-1s", "two-1h");
        assertThat(states.quotas(true, 5)).extracting(Quota::remaining).containsExactly(7L, 70L);
        assertThat(new ChargeStates(one, List.of(new FixedWindowState(5, 30))).quotas(true, 5))
                .extracting(Quota::remaining)
                .containsExactly(70L);
    }

    @Test
    void calculatesTheResultsOfSeveralChargesInTheirOrder() {
        List<ChargeStates> charges = List.of(
                new ChargeStates(two, List.of(new FixedWindowState(5, 3), new FixedWindowState(5, 30))),
                new ChargeStates(one, List.of(new FixedWindowState(5, 98))));
        List<ChargeResult> unspent = ChargeStates.results(charges, false, 5);
        assertThat(unspent).extracting(ChargeResult::policy).containsExactly("two", "one");
        assertThat(unspent).extracting(ChargeResult::rejected).containsExactly(false, true);
        assertThat(unspent.get(0).quotas()).extracting(Quota::name).containsExactly("two-1s", "two-1h");
        assertThat(unspent.get(0).quotas()).extracting(Quota::remaining).containsExactly(7L, 70L);
        assertThat(unspent.get(1).quotas()).extracting(Quota::remaining).containsExactly(2L);
        assertThat(ChargeStates.results(charges, true, 5))
                .extracting(ChargeResult::rejected)
                .containsExactly(false, false);
        assertThat(ChargeStates.results(List.of(), true, 5)).isEmpty();
    }

    @Test
    void aShadowChargeThatIsNotEvaluatedHasNoQuotas() {
        assertThat(ChargeStates.unknown(one.asShadow())).isEqualTo(new ChargeResult("one", true, List.of()));
    }
}
