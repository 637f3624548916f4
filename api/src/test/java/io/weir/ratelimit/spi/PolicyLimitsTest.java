// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyLimitsTest {
    private final Limit second = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1));
    private final Limit hour = Limit.of(Algorithm.TOKEN_BUCKET, 1000, Duration.ofHours(1));

    private static String nameOf(PolicyLimits policy, int index) {
        LimitState state = LimitState.untouched(policy.limits().get(index), 0);
        return policy.quota(index, state, 1, 0, false, 0).name();
    }

    @Test
    void aSingleLimitHasThePolicysName() {
        assertThat(nameOf(new PolicyLimits("api", List.of(second)), 0)).isEqualTo("api");
    }

    @Test
    void severalLimitsAreNamedByTheirWindows() {
        PolicyLimits policy = new PolicyLimits("api", List.of(hour, second));
        assertThat(nameOf(policy, 0)).isEqualTo("api-1h");
        assertThat(nameOf(policy, 1)).isEqualTo("api-1s");
    }

    @Test
    void storedKeysEndInPolicyAlgorithmAndWindow() {
        PolicyLimits policy = new PolicyLimits("Orders.list", List.of(second, hour));
        assertThat(policy.keyTail(0)).isEqualTo("Orders.list:s1000");
        assertThat(policy.keyTail(1)).isEqualTo("Orders.list:t3600000");
    }

    @Test
    void aPolicyNeedsALimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of()))
                .withMessage("a policy needs a limit");
    }

    @Test
    void twoLimitsOfOneWindowCouldNotBeToldApart() {
        Limit same = Limit.of(Algorithm.SLIDING_WINDOW, 20, Duration.parse("PT1.000S"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of(second, hour, same)))
                .withMessage("two limits have the same window 1s");
    }

    @Test
    void itsLimitsStayWhateverHappensToTheListItWasMadeOf() {
        List<Limit> limits = new ArrayList<>(List.of(second, hour));
        PolicyLimits policy = new PolicyLimits("api", limits);
        limits.clear();
        assertThat(policy.limits()).containsExactly(second, hour);
    }

    @Test
    void policiesAreEqualByNameAndLimits() {
        PolicyLimits policy = new PolicyLimits("api", List.of(second, hour));
        assertThat(policy)
                .isEqualTo(new PolicyLimits("api", List.of(second, hour)))
                .hasSameHashCodeAs(new PolicyLimits("api", List.of(second, hour)))
                .isNotEqualTo(new PolicyLimits("api", List.of(hour, second)))
                .isNotEqualTo(new PolicyLimits("api2", List.of(second, hour)))
                .hasToString("api[10/1s sliding-window, 1000/1h token-bucket]");
    }

    @Test
    void aTierIsShownAndNotStored() {
        PolicyLimits policy = new PolicyLimits("api", "premium", List.of(second, hour));
        PolicyLimits tierless = new PolicyLimits("api", List.of(second, hour));
        assertThat(policy.tier()).isEqualTo("premium");
        assertThat(tierless.tier()).isEqualTo("none").isEqualTo(PolicyLimits.NO_TIER);
        assertThat(policy.keyTail(1)).isEqualTo(tierless.keyTail(1));
        assertThat(nameOf(policy, 1)).isEqualTo(nameOf(tierless, 1));
        assertThat(policy)
                .isEqualTo(new PolicyLimits("api", "premium", List.of(second, hour)))
                .isNotEqualTo(tierless)
                .hasToString("api/premium[10/1s sliding-window, 1000/1h token-bucket]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", "", List.of(second)))
                .withMessage("a tier needs a name");
    }

    @Test
    void aQuotaTellsTheLimitAndWhatIsLeft() {
        PolicyLimits policy = new PolicyLimits("api", List.of(second));
        LimitState full = LimitState.untouched(second, 5).spend(second, 10, 5);
        assertThat(policy.quota(0, full, 1, 0, true, 5))
                .isEqualTo(new Quota("api", "api", 10, 10, Duration.ofSeconds(1), 0, false, 0, 2_000_000, 1_100_000));
        assertThat(policy.quota(0, full, 2, 0, false, 5))
                .isEqualTo(new Quota(
                        "api", "api", 10, 10, Duration.ofSeconds(1), 0, true, 1_200_000, 2_000_000, 1_100_000));
    }
}
