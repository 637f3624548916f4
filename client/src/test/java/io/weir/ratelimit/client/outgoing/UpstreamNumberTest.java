// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.client.outgoing.UpstreamNumber.Form;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each field of an upstream with a number, in each spelling. */
class UpstreamNumberTest {
    private static final Instant NOW = Instant.parse("2026-01-15T10:00:00Z");

    /** The spellings of a time, which upstreams send, with the seconds that they mean at {@link #NOW}. */
    private static final Map<String, Long> TIMES = Map.ofEntries(
            Map.entry("300", 300L),
            Map.entry("0", 0L),
            Map.entry("00030", 30L),
            Map.entry(" 30 ", 30L),
            Map.entry("+30", 30L),
            Map.entry("299.997", 300L),
            Map.entry("12.5", 13L),
            Map.entry("2.0", 2L),
            Map.entry("2.", 2L),
            Map.entry("0.503", 1L),
            Map.entry("0.0000000001", 1L),
            Map.entry("0,120", 120L),
            Map.entry("5, 1m", 60L),
            Map.entry("10-20", 20L),
            Map.entry("10 - 20", 20L),
            Map.entry("120s", 120L),
            Map.entry("1 s", 1L),
            Map.entry("6m0s", 360L),
            Map.entry("1h30m", 5_400L),
            Map.entry("1d 2h", 93_600L),
            Map.entry("500ms", 1L),
            Map.entry("2m30.5s", 151L),
            Map.entry("2026-01-15T10:00:40.000Z", 40L),
            Map.entry("17.3ms", 1L),
            Map.entry("1500000us", 2L),
            Map.entry("1500000µs", 2L),
            Map.entry("1ns", 1L),
            Map.entry("30 seconds", 30L),
            Map.entry("2 Minutes", 120L),
            Map.entry("1 hour", 3_600L),
            Map.entry("PT1M30S", 90L),
            Map.entry("PT0.5S", 1L),
            Map.entry("Thu, 15 Jan 2026 10:00:30 GMT", 30L),
            Map.entry("Thursday, 15-Jan-26 10:00:30 GMT", 30L),
            Map.entry("Thu Jan 15 10:00:30 2026", 30L),
            Map.entry("Thu, 15 Jan 2026 10:00:30 +0000", 30L),
            Map.entry("Thu, 15 Jan 2026 10:00:30 GMT, Thu, 15 Jan 2026 11:00:30 GMT", 3_630L),
            Map.entry("Thu, 15 Jan 2026 10:01:30 UTC", 90L),
            Map.entry("Sunday, 06-Nov-94 08:49:37 GMT", 0L),
            Map.entry("Wed, 14 Jan 2026 10:00:30 GMT", 0L),
            Map.entry("2026-01-15T10:00:40Z", 40L),
            Map.entry("2026-01-15T10:00:39.5Z", 40L),
            Map.entry("2026-01-15T11:00:40+01:00", 40L),
            Map.entry("1768471240", 40L),
            Map.entry("1768471240.602", 41L),
            Map.entry("1768471240000", 40L),
            Map.entry("1768471240001", 41L),
            Map.entry("1768471240000000", 40L),
            Map.entry("1768471240000000000", 40L),
            Map.entry("1000000000", 0L),
            Map.entry("999999999", UpstreamTime.MAX_SECONDS),
            Map.entry("99999999999999999999999999", UpstreamTime.MAX_SECONDS),
            Map.entry("400 days", UpstreamTime.MAX_SECONDS),
            Map.entry("99999999999999999999999999h", UpstreamTime.MAX_SECONDS),
            Map.entry("Fri, 31 Dec 9999 23:59:59 GMT", UpstreamTime.MAX_SECONDS));

    /** The spellings that have no meaning. The pause is then longer than that without a time. */
    private static final List<String> UNREADABLE = List.of(
            "",
            "soon",
            "-1",
            "1e3",
            "1.2.3",
            "5 5",
            "12 parsecs",
            "s",
            ".",
            "٣",
            "0x10",
            "PT",
            "-PT5S",
            "null",
            "NaN",
            "Thu, 15 Jan 2026",
            "Mon, 15 Jan 2026 10:00:30 GMT",
            "Thu, 15 Jan 2026 10:00:30 CET",
            "Fri, 01 Jan +999999999 00:00:00 GMT",
            "+999999999-01-01T00:00:00Z");

    /** The fields that have a time, each with a way to write a text into it. */
    private enum TimeField {
        RETRY_AFTER,
        RATE_LIMIT_RESET,
        X_RATE_LIMIT_RESET,
        X_RATE_LIMIT_RESET_WITH_HYPHEN,
        X_RATE_LIMIT_RESET_REQUESTS,
        ANTHROPIC,
        PARAMETER;

        Map<String, List<String>> write(String text) {
            return switch (this) {
                case RETRY_AFTER -> Map.of("Retry-After", List.of(text));
                case RATE_LIMIT_RESET -> number("RateLimit-", text);
                case X_RATE_LIMIT_RESET -> number("X-RateLimit-", text);
                case X_RATE_LIMIT_RESET_WITH_HYPHEN -> number("X-Rate-Limit-", text);
                case X_RATE_LIMIT_RESET_REQUESTS ->
                    Map.of("X-RateLimit-Remaining-Requests", List.of("0"), "X-RateLimit-Reset-Requests", List.of(text));
                case ANTHROPIC ->
                    Map.of(
                            "Anthropic-RateLimit-Requests-Remaining",
                            List.of("0"),
                            "Anthropic-RateLimit-Requests-Reset",
                            List.of(text));
                case PARAMETER -> Map.of("RateLimit", List.of("a;r=0;t=\"" + text + "\""));
            };
        }

        private static Map<String, List<String>> number(String prefix, String text) {
            return Map.of(prefix + "Remaining", List.of("0"), prefix + "Reset", List.of(text));
        }

        boolean isAscii(String text) {
            return this != PARAMETER || text.chars().allMatch(c -> c < 0x7F);
        }

        long seconds(UpstreamAnswer answer) {
            return this == RETRY_AFTER
                    ? answer.retryAfterSeconds().orElseThrow()
                    : answer.quotas().get(0).resetSeconds();
        }
    }

    static Stream<Arguments> times() {
        return Stream.of(TimeField.values())
                .flatMap(field -> TIMES.entrySet().stream()
                        .filter(time -> field.isAscii(time.getKey()))
                        .map(time -> Arguments.of(field, time.getKey(), time.getValue())));
    }

    @ParameterizedTest
    @MethodSource("times")
    @Tag("field")
    void eachFieldReadsEachTime(TimeField field, String text, long seconds) {
        UpstreamAnswer answer = UpstreamAnswer.read(field.write(text)::get, NOW);
        assertThat(field.seconds(answer)).isEqualTo(seconds);
        assertThat(answer.hasIgnoredField()).isFalse();
    }

    static Stream<Arguments> unreadable() {
        return Stream.of(TimeField.values())
                .flatMap(field -> UNREADABLE.stream().filter(field::isAscii).map(text -> Arguments.of(field, text)));
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    @Tag("field")
    void unreadableTimeIsALongPause(TimeField field, String text) {
        UpstreamAnswer answer = UpstreamAnswer.read(field.write(text)::get, NOW);
        assertThat(field.seconds(answer)).isEqualTo(UpstreamNumber.UNREADABLE_SECONDS);
        assertThat(answer.malformed()).hasSize(1);
        assertThat(UpstreamRules.pauseSeconds(429, answer)).isEqualTo(UpstreamNumber.UNREADABLE_SECONDS);
    }

    @ParameterizedTest
    @CsvSource({
        "Retry-After-Ms, 4321, 5, true",
        "Retry-After-Ms, 0, 0, true",
        "Retry-After-Ms, '1000, 2500.5', 3, true",
        "X-Ms-Retry-After-Ms, 60000, 60, true",
        "X-Ms-Retry-After-Ms, -1, 30, false",
        "Retry-After-Ms, soon, 30, false"
    })
    @Tag("field")
    void aPauseCanBeInMilliseconds(String field, String text, long seconds, boolean wellFormed) {
        UpstreamAnswer answer = UpstreamAnswer.read(Map.of(field, List.of(text))::get, NOW);
        assertThat(answer.retryAfterSeconds()).hasValue(seconds);
        assertThat(answer.malformed()).hasSize(wellFormed ? 0 : 1);
        Map<String, List<String>> both = Map.of(field, List.of(text), "Retry-After", List.of("40"));
        assertThat(UpstreamAnswer.read(both::get, NOW).retryAfterSeconds()).hasValue(Math.max(40, seconds));
    }

    /** An old duration is shorter by its age, and an instant stays where it is. */
    @ParameterizedTest
    @MethodSource("times")
    void storedResponseHasNoQuota(TimeField field, String text, long seconds) {
        Map<String, List<String>> fields = new HashMap<>(field.write(text));
        fields.put("Age", List.of("3600"));
        UpstreamAnswer answer = UpstreamAnswer.read(fields::get, NOW);
        assertThat(answer.quotas()).isEmpty();
        assertThat(answer.retryAfterSeconds().orElse(0)).isBetween(0L, seconds);
    }

    @ParameterizedTest
    @CsvSource({
        "7, 7, STANDARD",
        "' 7 ', 7, STANDARD",
        "007, 7, STANDARD",
        "0.0, 0, OTHER",
        "0.9, 0, OTHER",
        "5.5, 5, OTHER",
        "+3, 3, OTHER",
        "99999999999999999999, 999999999999999, STANDARD",
        "-1, 0, UNREADABLE",
        "'', 0, UNREADABLE",
        "many, 0, UNREADABLE",
        "5s, 0, UNREADABLE"
    })
    @Tag("field")
    void eachFieldReadsEachCount(String text, long count, Form form) {
        UpstreamNumber read = UpstreamNumber.count(List.of(text));
        assertThat(read).isEqualTo(new UpstreamNumber(count, form));
        Map<String, List<String>> number =
                Map.of("X-RateLimit-Remaining", List.of(text), "X-RateLimit-Reset", List.of("9"));
        Map<String, List<String>> parameter = Map.of("RateLimit", List.of("a;r=\"" + text + "\";t=9"));
        for (Map<String, List<String>> fields : List.of(number, parameter)) {
            UpstreamAnswer answer = UpstreamAnswer.read(fields::get, NOW);
            assertThat(answer.quotas())
                    .isEqualTo(form == Form.UNREADABLE ? List.of() : List.of(new UpstreamQuota(count, 9)));
            assertThat(answer.malformed()).hasSize(form == Form.STANDARD ? 0 : 1);
        }
    }

    @Test
    @Tag("field")
    void countsAndResetsInPairsAreQuotas() {
        Map<String, List<String>> lists =
                Map.of("X-RateLimit-Remaining", List.of("991, 98"), "X-RateLimit-Reset", List.of("5, 1m"));
        Map<String, List<String>> lines =
                Map.of("X-RateLimit-Remaining", List.of("991", "98"), "X-RateLimit-Reset", List.of("5", "60"));
        for (Map<String, List<String>> fields : List.of(lists, lines)) {
            UpstreamAnswer answer = UpstreamAnswer.read(fields::get, NOW);
            assertThat(answer.quotas()).containsExactly(new UpstreamQuota(991, 5), new UpstreamQuota(98, 60));
            assertThat(answer.malformed()).containsOnlyKeys("X-RateLimit-Remaining", "X-RateLimit-Reset");
        }
        Map<String, List<String>> unequal =
                Map.of("X-RateLimit-Remaining", List.of("0, 98"), "X-RateLimit-Reset", List.of("60"));
        UpstreamAnswer answer = UpstreamAnswer.read(unequal::get, NOW);
        assertThat(answer.quotas()).as("counts without a reset of their own").isEmpty();
        assertThat(answer.hasIgnoredField()).isTrue();
    }

    /** Text of an upstream must not take long. */
    @Test
    void longTextsAreReadInLinearTime() {
        for (String part : List.of("1", "1.", "1s", "1 ", "-", "Thu, ", "1,", "0", "1-", "99h")) {
            String text = part.repeat(UpstreamFields.LONGEST_FIELD / part.length());
            UpstreamAnswer answer = UpstreamAnswer.read(Map.of("Retry-After", List.of(text))::get, NOW);
            assertThat(answer.retryAfterSeconds()).isPresent();
        }
    }
}
