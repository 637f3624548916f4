// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitParserTest {

    private static List<Limit> parse(String text) {
        return LimitParser.parse(text, LimitForm.of(Algorithm.SLIDING_WINDOW), Optional.empty());
    }

    private static Limit window(long permits, Duration window) {
        return Limit.of(Algorithm.SLIDING_WINDOW, permits, window);
    }

    @Test
    void parsesPermitsPerDuration() {
        assertThat(parse("100/1m")).containsExactly(window(100, Duration.ofMinutes(1)));
        assertThat(parse("0/1m")).containsExactly(window(0, Duration.ofMinutes(1)));
        assertThat(parse("1/1ms")).containsExactly(window(1, Duration.ofMillis(1)));
        assertThat(parse("1000000000/30d")).containsExactly(window(1_000_000_000, Duration.ofDays(30)));
        assertThat(parse("1000000/366d")).containsExactly(window(1_000_000, Duration.ofDays(366)));
        assertThat(parse(Limit.MAX_PERMITS + "/1s")).containsExactly(window(Limit.MAX_PERMITS, Duration.ofSeconds(1)));
    }

    @Test
    void severalLimitsAreSeparatedByCommasAndKeepTheirOrder() {
        assertThat(parse("1000/1h,10/1s"))
                .containsExactly(window(1000, Duration.ofHours(1)), window(10, Duration.ofSeconds(1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10/1s, 100/1h", " 10 / 1s ,100/ 1h ", "\t10/1s\n,\r\n100/1h"})
    void blanksAroundNumbersDoNotMatter(String text) {
        assertThat(parse(text)).isEqualTo(parse("10/1s,100/1h"));
    }

    @Test
    void aLeakyBucketHoldsOnePermitUnlessItHasABurst() {
        assertThat(LimitParser.parse("10/1s, 100/1m", LimitForm.of(Algorithm.LEAKY_BUCKET), Optional.empty()))
                .extracting(Limit::capacity)
                .containsExactly(1L, 1L);
        assertThat(LimitParser.parse("10/1s", LimitForm.of(Algorithm.LEAKY_BUCKET), Optional.of(20L)))
                .containsExactly(Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1), 20));
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW"})
    void aWindowHasNoBurst(Algorithm algorithm) {
        assertThatThrownBy(() -> LimitParser.parse("10/1s", LimitForm.of(algorithm), Optional.of(20L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("burst");
    }

    @Test
    void aBucketHasItsBurst() {
        assertThat(LimitParser.parse("10/1s", LimitForm.of(Algorithm.TOKEN_BUCKET), Optional.of(20L)))
                .containsExactly(Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 20));
        assertThat(LimitParser.parse("10/1s", LimitForm.of(Algorithm.TOKEN_BUCKET), Optional.empty()))
                .containsExactly(Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 10));
        assertThatThrownBy(() -> LimitParser.parse("10/1s", LimitForm.of(Algorithm.TOKEN_BUCKET), Optional.of(0L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("burst");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "''             => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "'  '           => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "0              => \"0\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "10             => \"10\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "10/1s,         => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "',10/1s'       => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "'10/1s,,1/1h'  => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "10/1s;1/1h     => \"10/1s;1/1h\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "10/1/1s        => \"10/1/1s\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "10 per 1s      => \"10 per 1s\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "-1/1m          => \"-1\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "+1/1m          => \"+1\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "x/1m           => \"x\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "/1m            => \"\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "1.5/1m         => \"1.5\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "1_000/1m       => \"1_000\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "1 000/1m       => \"1 000\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "1e3/1m         => \"1e3\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "\u0661/1m      => \"\u0661\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "\uff11/1m      => \"\uff11\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "99999999999999999999/1s => "
                        + "\"99999999999999999999\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "281474976710655/1ms => \"281474976710655\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "10/            => \"\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "10/s           => \"s\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "10/-1s         => \"-1s\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "10/1           => \"1\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "10/\u0661s     => \"\u0661s\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "10/0s          => the window must be from 1ms to 366d",
                "10/367d        => the window must be from 1ms to 366d",
                "10/999999999999999999ms => the window must be from 1ms to 366d",
            })
    void rejectsOtherTextWithTheValueOrTheRange(String text, String message) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void rejectsPermitsWithoutAnExactTimeUnit() {
        assertThatThrownBy(() -> parse("281474976710654/366d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("281474976710654 permits are too many");
    }

    @Test
    void aLimitEqualsItsParsedText() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Duration[] units = {
            Duration.ofMillis(1), Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofDays(1)
        };
        for (int i = 0; i < 20_000; i++) {
            List<Limit> limits = new ArrayList<>();
            for (int left = random.nextInt(3); left >= 0; left--) {
                Duration window = units[random.nextInt(units.length)].multipliedBy(1 + random.nextInt(366));
                limits.add(window(random.nextInt(1 << random.nextInt(18)), window));
            }
            String text = limits.stream()
                    .map(limit -> limit.permits() + "/" + limit.windowText())
                    .collect(Collectors.joining(random.nextBoolean() ? "," : ", "));
            assertThat(parse(text)).as("%s, seed %d", text, seed).isEqualTo(limits);
        }
    }
}
