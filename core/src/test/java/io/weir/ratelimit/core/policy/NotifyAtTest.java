// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NotifyAtTest {
    private static final String LIMIT = "ratelimit.policies.api.limit=100/1m";

    @Test
    void theSharesAreReadInAscendingOrder() {
        ReadPolicies read = ReadPolicies.of(LIMIT, "ratelimit.policies.api.notify-at= 100%,80% , 1%");
        assertThat(read.found()).isEmpty();
        assertThat(read.policy("api").notifyAt()).containsExactly(1, 80, 100);
        assertThat(ReadPolicies.of(LIMIT).policy("api").notifyAt()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "80         => \"80\" is not a percentage from 1% to 100%",
                "0%         => \"0%\" is not a percentage from 1% to 100%",
                "80%, 101%  => \"101%\" is not a percentage from 1% to 100%",
                "080%       => \"080%\" is not a percentage from 1% to 100%",
                "-5%        => \"-5%\" is not a percentage from 1% to 100%",
                "12.5%      => \"12.5%\" is not a percentage from 1% to 100%",
                "80 %       => \"80 %\" is not a percentage from 1% to 100%",
                "80%, 80%   => has 80% twice",
            })
    void aWrongShareIsReportedWithItsPropertyItsValueAndARemedy(String value, String problem) {
        ReadPolicies read = ReadPolicies.of(LIMIT, "ratelimit.policies.api.notify-at=" + value);
        assertThat(read.lines())
                .containsExactly("WEIR-102 ratelimit.policies.api.notify-at = " + value + ": " + problem
                        + "; correct the value, or remove the property to use the default");
    }
}
