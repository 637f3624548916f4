// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.client.outgoing.UpstreamAnswer.Malformed;
import io.weir.ratelimit.fixtures.Growth;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UpstreamAnswerTest {
    private static final Instant NOW = Instant.parse("2026-01-15T10:00:00Z");
    private static final long YEAR = UpstreamTime.MAX_SECONDS;

    private static UpstreamAnswer read(String... namesAndLines) {
        Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 0; i < namesAndLines.length; i += 2) {
            fields.computeIfAbsent(namesAndLines[i], first -> new ArrayList<>()).add(namesAndLines[i + 1]);
        }
        return UpstreamAnswer.read(fields::get, NOW);
    }

    private static List<UpstreamQuota> quotas(String... namesAndLines) {
        UpstreamAnswer answer = read(namesAndLines);
        assertThat(answer.malformed()).isEmpty();
        return answer.quotas();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0",
                "2 | 2",
                "0007 | 7",
                "99999999999999999999999999 | 31622400",
                "Thu, 15 Jan 2026 10:00:30 GMT | 30",
                "Thursday, 15-Jan-26 10:00:30 GMT | 30",
                "Thu Jan 15 10:00:30 2026 | 30",
                "Wed, 14 Jan 2026 10:00:30 GMT | 0",
                "Fri, 31 Dec 9999 23:59:59 GMT | 31622400",
            })
    void readsRetryAfter(String text, long seconds) {
        UpstreamAnswer answer = read("Retry-After", text);
        assertThat(answer.retryAfterSeconds()).hasValue(seconds);
        assertThat(answer.malformed()).isEmpty();
    }

    @Test
    void theLongestOfSeveralTimesApplies() {
        UpstreamAnswer answer = read("Retry-After", "5", "Retry-After", "Thu, 15 Jan 2026 10:00:30 GMT");
        assertThat(answer.retryAfterSeconds()).hasValue(30);
        assertThat(answer.malformed())
                .containsEntry("Retry-After", new Malformed("5, Thu, 15 Jan 2026 10:00:30 GMT", Optional.of("30 s")));
    }

    @Test
    void datesAreRelativeToTheClockOfTheUpstream() {
        assertThat(read("Date", "Thu, 15 Jan 2026 12:00:00 GMT", "Retry-After", "Thu, 15 Jan 2026 12:00:10 GMT")
                        .retryAfterSeconds())
                .hasValue(10);
        assertThat(read("Date", "Fri, 01 Jan +999999999 00:00:00 GMT", "Retry-After", "Thu, 15 Jan 2026 10:00:10 GMT")
                        .retryAfterSeconds())
                .hasValue(10);
        assertThat(read("Date", "yesterday", "Retry-After", "Thu, 15 Jan 2026 10:00:10 GMT")
                        .retryAfterSeconds())
                .hasValue(10);
    }

    @Test
    void readsTheCurrentDraft() {
        assertThat(quotas("RateLimit", "\"default\";r=50;t=30")).containsExactly(new UpstreamQuota(50, 30));
        assertThat(quotas("RateLimit", "\"a\";r=1;t=2, \"b\";r=3;t=4;pk=:cHNzc3Q=:"))
                .containsExactly(new UpstreamQuota(1, 2), new UpstreamQuota(3, 4));
        assertThat(quotas("RateLimit", "\"a\";r=1;t=2", "RateLimit", "b;r=3;t=4"))
                .containsExactly(new UpstreamQuota(1, 2), new UpstreamQuota(3, 4));
        assertThat(quotas("RateLimit-Policy", "\"day\";q=1000;w=86400", "RateLimit", "\"day\";r=10"))
                .containsExactly(new UpstreamQuota(10, 86_400));
        assertThat(quotas("RateLimit", "\"a\";r=1;t=999999999999999")).containsExactly(new UpstreamQuota(1, YEAR));
    }

    @Test
    void readsTheOlderDialects() {
        assertThat(quotas("RateLimit-Limit", "10", "RateLimit-Remaining", "3", "RateLimit-Reset", "7"))
                .containsExactly(new UpstreamQuota(3, 7));
        assertThat(quotas("X-RateLimit-Remaining", "3", "X-RateLimit-Reset", "7"))
                .containsExactly(new UpstreamQuota(3, 7));
        assertThat(quotas("x-rate-limit-remaining", "3", "x-rate-limit-reset", "7"))
                .containsExactly(new UpstreamQuota(3, 7));
        long reset = NOW.getEpochSecond() + 40;
        assertThat(quotas("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "" + reset))
                .containsExactly(new UpstreamQuota(0, 40));
        assertThat(quotas("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset + "000"))
                .containsExactly(new UpstreamQuota(0, 40));
        assertThat(quotas("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1000000000"))
                .as("an instant in the past")
                .containsExactly(new UpstreamQuota(0, 0));
    }

    @Test
    void readsTheDraft07() {
        for (String policy : List.of("100;w=60", "\"a\";q=100;w=60")) {
            assertThat(quotas("RateLimit", "limit=100, remaining=0, reset=2", "RateLimit-Policy", policy))
                    .containsExactly(new UpstreamQuota(0, 2));
        }
        assertThat(quotas("RateLimit", "limit=100;comment=\"a\"", "RateLimit", "remaining=50,reset=30"))
                .containsExactly(new UpstreamQuota(50, 30));
        assertThat(quotas("RateLimit", "remaining=5, reset=30", "RateLimit-Remaining", "3", "RateLimit-Reset", "7"))
                .as("the first group of a response applies")
                .containsExactly(new UpstreamQuota(5, 30));
    }

    /** The draft 06 has another form of the field, which many servers send. */
    @ParameterizedTest
    @ValueSource(strings = {"100;w=60", "10;w=1;burst=1000, 1000;w=3600", "100;w=60;comment=\"fixed window\""})
    void thePolicyOfTheDraft06IsNotMalformed(String policy) {
        for (String prefix : List.of("", "X-")) {
            assertThat(quotas(
                            "RateLimit-Policy",
                            policy,
                            prefix + "RateLimit-Limit",
                            "100",
                            prefix + "RateLimit-Remaining",
                            "0",
                            prefix + "RateLimit-Reset",
                            "2"))
                    .containsExactly(new UpstreamQuota(0, 2));
        }
    }

    @Test
    void modelTokensCountIfNoneRemains() {
        assertThat(read(
                                "x-ratelimit-remaining-requests", "40",
                                "x-ratelimit-reset-requests", "10",
                                "x-ratelimit-remaining-tokens", "0",
                                "x-ratelimit-reset-tokens", "6m0s")
                        .quotas())
                .containsExactly(new UpstreamQuota(40, 10), new UpstreamQuota(0, 360));
        for (String tokens : List.of("tokens", "input-tokens", "output-tokens")) {
            String remaining = "anthropic-ratelimit-" + tokens + "-remaining";
            String reset = "anthropic-ratelimit-" + tokens + "-reset";
            assertThat(read(remaining, "0", reset, "2026-01-15T10:00:30Z").quotas())
                    .as(tokens)
                    .singleElement()
                    .returns(0L, UpstreamQuota::remaining);
            assertThat(read(remaining, "1", reset, "2026-01-15T10:00:30Z").quotas())
                    .isEmpty();
        }
    }

    @Test
    void theFirstDialectApplies() {
        assertThat(quotas("RateLimit", "\"default\";r=50;t=30", "X-RateLimit-Remaining", "3", "X-RateLimit-Reset", "7"))
                .containsExactly(new UpstreamQuota(50, 30));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"default\";r=-1;t=30",
                "\"default\";r=1;t=-30",
                "\"default\";t=30",
                "\"default\";r=1000000000000000;t=30",
                "\"default\";r=1.5.5;t=30",
                "\"default\";r=\"one\";t=30",
                "\"default",
                "\"default\";r=",
                "\"default\";r=1;t=30,",
                "\"default\";R=1",
                "50",
                "limit=10, remaining=5",
                "limit=10, remaining=5, reset=3,",
                "limit=10, remaining=-5, reset=3",
                "\"ü\";r=1;t=1"
            })
    void malformedQuotasAreAbsent(String text) {
        UpstreamAnswer answer = read("RateLimit", text);
        assertThat(answer.quotas()).isEmpty();
        assertThat(answer.malformed()).containsOnlyKeys("RateLimit");
    }

    @Test
    void contradictingAndLongFieldsAreMalformed() {
        assertThat(read("X-RateLimit-Remaining", "1", "X-RateLimit-Remaining", "2", "X-RateLimit-Reset", "3"))
                .returns(List.of(), UpstreamAnswer::quotas)
                .returns(
                        Map.of("X-RateLimit-Remaining", new Malformed("1, 2", Optional.empty())),
                        UpstreamAnswer::malformed);
        assertThat(quotas("X-RateLimit-Remaining", "1", "X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "3"))
                .containsExactly(new UpstreamQuota(1, 3));
        UpstreamAnswer longField = read("Retry-After", "1".repeat(UpstreamFields.LONGEST_FIELD + 1));
        assertThat(longField.retryAfterSeconds()).isEmpty();
        assertThat(longField.malformed().get("Retry-After").value()).hasSize(81).endsWith("…");
        String[] many = new String[2 * StructuredFields.MAX_MEMBERS + 2];
        Arrays.fill(many, "a;r=1;t=1");
        assertThat(read("RateLimit", String.join(",", many)).malformed()).containsOnlyKeys("RateLimit");
    }

    /** Random fields from the characters and words of all dialects. */
    @Test
    void anyTextIsBounded() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("fields of an upstream: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        String[] names = {
            "Retry-After",
            "Date",
            "Age",
            "RateLimit",
            "RateLimit-Policy",
            "RateLimit-Remaining",
            "RateLimit-Reset",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
            "X-Rate-Limit-Remaining",
            "X-Rate-Limit-Reset"
        };
        String[] words = {
            "\"a\"",
            ";",
            "r=",
            "t=",
            "w=",
            "q=",
            "-",
            "0",
            "1",
            "9",
            "999999999999999",
            "1800000000",
            ",",
            " ",
            "\t",
            "\\",
            "\"",
            ":",
            "?1",
            "=",
            ".",
            "Thu, 15 Jan 2026 10:00:30 GMT",
            "Thu",
            "GMT",
            "qu=",
            "%",
            "@",
            "s",
            "h",
            "µs",
            "PT",
            "+",
            "\u0000",
            "\r\n",
            "ü",
            "*"
        };
        for (int run = 0; run < 20_000; run++) {
            String[] fields = new String[2 * (1 + random.nextInt(4))];
            for (int i = 0; i < fields.length; i += 2) {
                fields[i] = names[random.nextInt(names.length)];
                StringBuilder text = new StringBuilder();
                for (int word = random.nextInt(10); word > 0; word--) {
                    text.append(words[random.nextInt(words.length)]);
                }
                fields[i + 1] = text.toString();
            }
            UpstreamAnswer answer = read(fields);
            assertThat(answer.retryAfterSeconds().orElse(0)).isBetween(0L, YEAR);
            assertThat(answer.quotas()).allSatisfy(quota -> {
                assertThat(quota.remaining()).isNotNegative();
                assertThat(quota.resetSeconds()).isBetween(0L, YEAR);
            });
        }
    }

    /** The reader returns the quotas that were written, for random numbers and names. */
    @Test
    void writtenQuotasAreReadAgain() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("written quotas of an upstream: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        for (int run = 0; run < 2_000; run++) {
            long remaining = random.nextLong(1_000_000_000_000_000L);
            long reset = random.nextLong(YEAR + 1);
            String name = random.ints(random.nextInt(12), ' ', '~' + 1)
                    .mapToObj(c -> (c == '"' || c == '\\' ? "\\" : "") + (char) c)
                    .reduce("", String::concat);
            assertThat(quotas("RateLimit", '"' + name + "\";other=?0;r=" + remaining + "; t=" + reset))
                    .containsExactly(new UpstreamQuota(remaining, reset));
            assertThat(quotas("RateLimit-Remaining", "" + remaining, "RateLimit-Reset", "" + reset))
                    .containsExactly(new UpstreamQuota(remaining, reset));
        }
    }

    @Test
    void aFieldWithTooManyValuesIsUnreadable() {
        for (int values : new int[] {1, 2, UpstreamNumber.MAX_VALUES, UpstreamNumber.MAX_VALUES + 1, 1_000}) {
            boolean read = values <= UpstreamNumber.MAX_VALUES;
            String[] numbers = Collections.nCopies(values, "7").toArray(new String[0]);
            String list = String.join(", ", numbers);
            String[] lines = new String[2 * values];
            for (int i = 0; i < lines.length; i += 2) {
                lines[i] = "Retry-After";
                lines[i + 1] = "7";
            }
            assertThat(read("Retry-After", list).retryAfterSeconds())
                    .as("%d values", values)
                    .hasValue(read ? 7 : UpstreamNumber.UNREADABLE_SECONDS);
            UpstreamAnswer ofLines = read(lines);
            assertThat(ofLines.retryAfterSeconds().isPresent())
                    .as("%d lines", values)
                    .isEqualTo(read);
            assertThat(ofLines.hasIgnoredField()).isEqualTo(!read);
            assertThat(read("RateLimit-Remaining", list, "RateLimit-Reset", list)
                            .quotas())
                    .as("%d counts", values)
                    .hasSize(read ? values : 0);
            String members = String.join(", ", Collections.nCopies(values, "a;r=1;t=7"));
            assertThat(read("RateLimit", members).quotas())
                    .as("%d members", values)
                    .hasSize(read ? values : 0);
            assertThat(read("RateLimit-Policy", "a;w=5", "RateLimit", members)
                            .malformed()
                            .containsKey("RateLimit"))
                    .isEqualTo(!read);
            assertThat(read("Retry-After", "1s".repeat(values)).retryAfterSeconds())
                    .as("%d units", values)
                    .hasValue(read ? values : UpstreamNumber.UNREADABLE_SECONDS);
        }
    }

    /** The longest field has 32,768 characters, so the greater size is close to it. */
    @ParameterizedTest
    @ValueSource(
            strings = {",", "a", "a;r=1,", "\"", "\\", ";", "9", "a;", " ", "\"a\";r=1;t=1, ", "1s", "1-", "T", "Mon,"})
    @Tag("field")
    void aFieldIsReadInLinearTime(String part) {
        for (int i = 0; i < 20; i++) {
            readAll(part.repeat(1_000));
        }
        Growth.isLinear("a field of " + part, 32_000, size -> {
            for (int i = 0; i < 5; i++) {
                readAll(part.repeat(size / part.length()));
            }
        });
    }

    private static void readAll(String text) {
        for (String field : List.of("Retry-After", "RateLimit", "RateLimit-Policy", "RateLimit-Reset", "Date")) {
            read(field, text);
        }
        read("RateLimit", "a;r=1", "RateLimit-Policy", text);
    }
}
