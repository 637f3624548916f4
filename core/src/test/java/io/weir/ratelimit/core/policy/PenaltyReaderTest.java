// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.PenaltyRule;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PenaltyReaderTest {
    private static ReadPolicies read(String... attributes) {
        return ReadPolicies.of(Stream.concat(
                        Stream.of("ratelimit.policies.api.limit=100/1m"),
                        Stream.of(attributes).map(attribute -> "ratelimit.policies.api.penalty." + attribute))
                .toArray(String[]::new));
    }

    @Test
    void aRuleIsReadWithItsDefaults() {
        ReadPolicies read = read("after= 20 / 1m", "for=15m");
        assertThat(read.found()).isEmpty();
        assertThat(read.policy("api").penalty())
                .contains(new PenaltyRule(20, Duration.ofMinutes(1), Duration.ofMinutes(15), 2, Duration.ofDays(1)));
        assertThat(read().policy("api").penalty()).isEmpty();
    }

    @Test
    void aRuleIsReadWithAllValues() {
        assertThat(read("after=3/1h", "for=1m", "factor=10", "max=2h")
                        .policy("api")
                        .penalty())
                .contains(new PenaltyRule(3, Duration.ofHours(1), Duration.ofMinutes(1), 10, Duration.ofHours(2)));
    }

    @Test
    void theLongestBlockIsAtLeastTheFirstOneByDefault() {
        assertThat(read("after=3/1h", "for=7d")
                        .policy("api")
                        .penalty()
                        .orElseThrow()
                        .longest())
                .isEqualTo(Duration.ofDays(7));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "for=15m => WEIR-137 ratelimit.policies.api.penalty.for = 15m: a penalty also needs ratelimit.policies.api.penalty.after;",
                "factor=3 => WEIR-137 ratelimit.policies.api.penalty.factor = 3: a penalty also needs ratelimit.policies.api.penalty.after;",
                "max=3d => WEIR-137 ratelimit.policies.api.penalty.max = 3d: a penalty also needs ratelimit.policies.api.penalty.after;",
                "after=20/1m => WEIR-137 ratelimit.policies.api.penalty.after = 20/1m: a penalty also needs ratelimit.policies.api.penalty.for;",
                "after=20/1m for=2d max=1d => WEIR-138 ratelimit.policies.api.penalty.for = 2d: the first block is longer than ratelimit.policies.api.penalty.max;",
                "after=20 for=1m => WEIR-102 ratelimit.policies.api.penalty.after = 20: must be <rejections>/<duration>",
                "after=0/1m for=1m => WEIR-102 ratelimit.policies.api.penalty.after = 0/1m: must be <rejections>/<duration>",
                "after=2/367d for=1m => WEIR-102 ratelimit.policies.api.penalty.after = 2/367d: ",
                "after=2000000000/1m for=1m => WEIR-102 ratelimit.policies.api.penalty.after = 2000000000/1m: must be",
                "after=2/1m for=31d => WEIR-102 ratelimit.policies.api.penalty.for = 31d: must be from 1s to 30d",
                "after=2/1m for=999ms => WEIR-102 ratelimit.policies.api.penalty.for = 999ms: must be from 1s to 30d",
                "after=2/1m for=1m factor=0 => WEIR-102 ratelimit.policies.api.penalty.factor = 0: must be a whole number from 1 to 100",
                "after=2/1m for=1m factor=1.5 => WEIR-102 ratelimit.policies.api.penalty.factor = 1.5: must be a whole number",
            })
    void aWrongValueIsReportedWithItsPropertyAndARemedy(String attributes, String problem) {
        ReadPolicies read = read(attributes.split(" ", -1));
        assertThat(read.lines()).singleElement().asString().startsWith(problem);
    }
}
