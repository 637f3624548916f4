// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionEventTest {
    private final Limit second = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(1));
    private final Limit hour = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
    private final Charge two = new Charge(new PolicyLimits("two", List.of(second, hour)), "p.alice", 1);
    private final Charge one = new Charge(new PolicyLimits("one", List.of(hour)), "p.alice", 1);
    private final Charge trial = new Charge(new PolicyLimits("trial", List.of(hour, second)), "p.alice", 1).asShadow();
    private final Charge test = new Charge(new PolicyLimits("test", List.of(hour)), "p.alice", 1).asShadow();

    private static Quota quota(String policy, String name) {
        return Quota.builder(policy, name)
                .window(10, Duration.ofSeconds(1))
                .remaining(5)
                .build();
    }

    private final List<Quota> ofTwo = List.of(quota("two", "two-1s"), quota("two", "two-1h"));
    private final List<Quota> ofOne = List.of(quota("one", "one"));
    private final List<Quota> ofTrial = List.of(quota("trial", "trial-1h"), quota("trial", "trial-1s"));

    private static ChargeResult result(Charge charge, List<Quota> quotas) {
        return new ChargeResult(charge.policy().policy(), charge.shadow(), quotas);
    }

    @Test
    void eachChargeHasItsQuotas() {
        Decision decision = new Decision.Allowed(
                List.of(result(trial, ofTrial), result(two, ofTwo), result(test, List.of()), result(one, ofOne)),
                Receipt.EMPTY);
        DecisionEvent event = new DecisionEvent("Search.find", List.of(trial, two, test, one), decision, 1);
        assertThat(event.quotasOf(0)).isEqualTo(ofTrial);
        assertThat(event.quotasOf(1)).isEqualTo(ofTwo);
        assertThat(event.quotasOf(2)).isEmpty();
        assertThat(event.quotasOf(3)).isEqualTo(ofOne);
    }

    @Test
    void degradedDecisionHasNoQuotasOfAnyCharge() {
        Decision degraded = new Decision.Degraded(FailureMode.OPEN, true, "timeout");
        DecisionEvent event = new DecisionEvent("Search.find", List.of(two, trial), degraded, 1);
        assertThat(event.quotasOf(0)).isEmpty();
        assertThat(event.quotasOf(1)).isEmpty();
    }
}
