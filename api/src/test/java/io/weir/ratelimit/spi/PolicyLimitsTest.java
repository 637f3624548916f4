// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyLimitsTest {
    private final Limit second = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(1));
    private final Limit hour = Limit.of(Algorithm.TOKEN_BUCKET, 1000, Duration.ofHours(1));

    @Test
    void singleLimitHasTheNameOfThePolicy() {
        assertThat(new PolicyLimits("api", List.of(second)).limitName(0)).isEqualTo("api");
    }

    @Test
    void namesOfSeveralLimitsHaveTheWindow() {
        PolicyLimits policy = new PolicyLimits("api", List.of(hour, second));
        assertThat(policy.limitName(0)).isEqualTo("api-1h");
        assertThat(policy.limitName(1)).isEqualTo("api-1s");
    }

    @Test
    void rejectsAPolicyWithoutLimits() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of()))
                .withMessage("a policy needs a limit");
    }

    @Test
    void rejectsTwoLimitsWithTheSameWindow() {
        Limit same = Limit.of(Algorithm.SLIDING_WINDOW, 20, Duration.parse("PT1.000S"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of(second, hour, same)))
                .withMessage("two limits have the same window 1s");
    }

    @Test
    void copiesItsLimits() {
        List<Limit> limits = new ArrayList<>(List.of(second, hour));
        PolicyLimits policy = new PolicyLimits("api", limits);
        limits.clear();
        assertThat(policy.limits()).containsExactly(second, hour);
    }

    @Test
    void limitsAreEqualByPolicyAndLimits() {
        PolicyLimits policy = new PolicyLimits("api", List.of(second, hour));
        assertThat(policy)
                .isEqualTo(new PolicyLimits("api", List.of(second, hour)))
                .hasSameHashCodeAs(new PolicyLimits("api", List.of(second, hour)))
                .isNotEqualTo(new PolicyLimits("api", List.of(hour, second)))
                .isNotEqualTo(new PolicyLimits("api2", List.of(second, hour)))
                .hasToString("api[10/1s sliding-window, 1000/1h token-bucket]");
    }

    @Test
    void tierIsNotPartOfTheNamesOfLimits() {
        PolicyLimits policy = new PolicyLimits("api", "premium", List.of(second, hour));
        PolicyLimits tierless = new PolicyLimits("api", List.of(second, hour));
        assertThat(policy.tier()).isEqualTo("premium");
        assertThat(tierless.tier()).isEqualTo("none").isEqualTo(PolicyLimits.NO_TIER);
        assertThat(policy.limitName(1)).isEqualTo(tierless.limitName(1));
        assertThat(policy)
                .isEqualTo(new PolicyLimits("api", "premium", List.of(second, hour)))
                .isNotEqualTo(tierless)
                .hasToString("api/premium[10/1s sliding-window, 1000/1h token-bucket]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", "", List.of(second)))
                .withMessage("a tier needs a name");
    }
}
