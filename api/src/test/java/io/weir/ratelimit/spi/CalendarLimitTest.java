// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;

class CalendarLimitTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static CalendarLimit monthly(long permits, int anchor) {
        return Limit.of(permits, new CalendarPeriod(Unit.MONTH, BERLIN, anchor));
    }

    @Test
    void hasANominalLengthAndNoAlgorithm() {
        Limit limit = monthly(Limit.MAX_PERMITS, 15);

        assertThat(limit.uses(Algorithm.FIXED_WINDOW)).isFalse();
        assertThat(limit.window()).isEqualTo(Duration.ofDays(31));
        assertThat(limit.capacity()).isEqualTo(Limit.MAX_PERMITS);
        assertThatIllegalArgumentException().isThrownBy(() -> monthly(Limit.MAX_PERMITS + 1, 1));
    }

    @Test
    void hasATextInTheSyntaxOfConfiguration() {
        assertThat(monthly(10, 1)).hasToString("10/month Europe/Berlin");
        assertThat(monthly(10, 15).withMaxWait(Duration.ofSeconds(2)))
                .hasToString("10/month Europe/Berlin anchor 15 max-wait 2s");
        assertThat(monthly(10, 1).windowText()).isEqualTo("month");
    }

    @Test
    void isEqualByItsValues() {
        assertThat(monthly(10, 15))
                .isEqualTo(monthly(10, 15))
                .hasSameHashCodeAs(monthly(10, 15))
                .isEqualTo(monthly(11, 15).withPermits(10))
                .isNotEqualTo(monthly(10, 16))
                .isNotEqualTo(monthly(11, 15))
                .isNotEqualTo(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofDays(31)))
                .isNotEqualTo(Limit.of(10, new CalendarPeriod(Unit.MONTH, ZoneId.of("UTC"), 15)));
        assertThat(monthly(10, 15).withMaxWait(Duration.ofSeconds(1)).period())
                .isEqualTo(monthly(10, 15).period());
    }

    @Test
    void anAnchorIsADayOfAMonth() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> monthly(10, 0))
                .withMessage("anchor must be from 1 to 31");
        assertThatIllegalArgumentException().isThrownBy(() -> monthly(10, 32));
        assertThat(new CalendarPeriod(Unit.WEEK, BERLIN, 15)).isEqualTo(new CalendarPeriod(Unit.WEEK, BERLIN, 1));
    }

    @Test
    void cannotBeLeased() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of(monthly(10, 1))).withLease(1));
    }

    @Test
    void aPolicyHasOneLimitPerUnit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PolicyLimits("api", List.of(monthly(10, 1), monthly(20, 15))))
                .withMessage("two limits have the same window month");
    }
}
