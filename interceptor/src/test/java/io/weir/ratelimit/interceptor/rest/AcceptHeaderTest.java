// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Growth;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptHeaderTest {
    private static BodyFormat accepted(String... lines) {
        return BodyFormat.acceptedBy(AcceptHeader.parse(List.of(lines)));
    }

    @Test
    void aClientWithoutPreferenceReceivesAProblem() {
        assertThat(BodyFormat.acceptedBy(AcceptHeader.parse(null))).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted()).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted("")).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted("json", "/", "a/b/c", "*/json", "text/html;q=high"))
                .as("no member is a media range")
                .isEqualTo(BodyFormat.PROBLEM_JSON);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "*/*                                                             | PROBLEM_JSON",
                "application/*                                                   | PROBLEM_JSON",
                "application/problem+json                                        | PROBLEM_JSON",
                "application/json                                                | JSON",
                "APPLICATION/JSON; charset=utf-8                                 | JSON",
                "application/json, application/problem+json                      | PROBLEM_JSON",
                "text/*                                                          | TEXT",
                "text/plain                                                      | TEXT",
                "text/html                                                       | HTML",
                "text/html, text/plain;q=0.9                                     | HTML",
                "text/html;q=0.8, text/plain;q=0.9                               | TEXT",
                "text/html;q=0.001, text/plain;q=0                               | HTML",
                "text/html;level=1, text/plain;q=0.1                             | TEXT",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | HTML",
                "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2            | HTML",
                "*/*;q=0.1, application/json                                     | JSON",
                "application/*;q=0.5, application/problem+json;q=0               | JSON",
                "application/*, application/problem+json;q=0.5                   | JSON",
                "application/problem+json;q=0, */*                               | JSON",
                "application/json;q=0, application/problem+json;q=0, */*;q=0.5   | TEXT",
                "text/plain;x=\"a, text/html\", application/json;q=0.2           | JSON",
                "text/plain;x=\"a, text/html, b\", application/json;q=0.2        | JSON",
                "text/plain;x=\"\\\", text/html, b\", application/json;q=0.2      | JSON",
                "text/plain;x=\"a\\\\\", text/html;q=0.3, application/json;q=0.2 | HTML",
                "a\\,application/json                                            | JSON",
                "application/json;q=1.0;x=y, text/html;q=0.5                     | HTML",
                "application/vnd.api+json                                        | TEXT",
                "image/png                                                       | TEXT",
                "text/plain;q=0                                                  | TEXT",
                "*/*;q=0                                                         | TEXT",
            })
    void theMostSpecificRangeDeterminesTheWeight(String accept, BodyFormat format) {
        assertThat(accepted(accept)).isEqualTo(format);
    }

    @Test
    void severalLinesAreOneList() {
        assertThat(accepted("application/json;q=0.5", "text/html")).isEqualTo(BodyFormat.HTML);
    }

    @Test
    void namesAcceptedTypesInOrderOfPreference() {
        AcceptHeader accept = AcceptHeader.parse(List.of("*/*;q=0.1, text/html;q=0.9, image/png;q=0, Text/Plain;a=b"));
        assertThat(accept.names()).containsExactly("text/plain", "text/html", "*/*");
        assertThat(AcceptHeader.ANYTHING.names()).isEmpty();
    }

    @Test
    void ignoresAHeaderThatIsTooLong() {
        String ranges = "text/html, ".repeat(101);
        assertThat(accepted(ranges)).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted("text/html, ".repeat(100))).isEqualTo(BodyFormat.HTML);
        String padding = " ".repeat(16_384 - "text/html".length());
        assertThat(accepted("text/html" + padding)).isEqualTo(BodyFormat.HTML);
        assertThat(accepted("text/html" + padding + " ")).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted(",".repeat(16_000))).isEqualTo(BodyFormat.PROBLEM_JSON);
        assertThat(accepted("a/b" + ";".repeat(16_000))).isEqualTo(BodyFormat.TEXT);
        assertThat(accepted("\"" + "\\".repeat(16_000))).isEqualTo(BodyFormat.PROBLEM_JSON);
    }

    @Test
    void everyHeaderSelectsAFormat() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String[] bits = {
            "text/html", "*/*", "*", "application/json", ";", "q=", "0.", "5", ",", "\"", "\\", " ", "\u00e9"
        };
        for (int i = 0; i < 5_000; i++) {
            StringBuilder line = new StringBuilder();
            random.ints(random.nextInt(30), 0, bits.length).forEach(bit -> line.append(bits[bit]));
            assertThat(accepted(line.toString())).as("seed %d: %s", seed, line).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "a", "a/b,", "a/b;", "\"", "\\", "q=", "a/b;q=0.", "*/*,", " "})
    void aFieldIsReadInLinearTime(String part) {
        for (int i = 0; i < 200; i++) {
            AcceptHeader.parse(List.of(part.repeat(16_000 / part.length())));
        }
        Growth.isLinear("a field of " + part, 16_000, size -> {
            for (int i = 0; i < 20; i++) {
                AcceptHeader.parse(List.of(part.repeat(size / part.length())));
            }
        });
    }
}
