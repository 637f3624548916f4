// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AcceptHeaderTest {
    private static BodyForm wanted(String... lines) {
        return BodyForm.wanted(AcceptHeader.parse(List.of(lines)));
    }

    @Test
    void aClientThatSaysNothingIsToldAProblem() {
        assertThat(BodyForm.wanted(AcceptHeader.parse(null))).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted()).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted("")).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted("json", "/", "a/b/c", "*/json", "text/html;q=high"))
                .as("nothing that is a media range")
                .isEqualTo(BodyForm.PROBLEM_JSON);
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
                "application/json;q=1.0;x=y, text/html;q=0.5                     | HTML",
                "application/vnd.api+json                                        | TEXT",
                "image/png                                                       | TEXT",
                "text/plain;q=0                                                  | TEXT",
                "*/*;q=0                                                         | TEXT",
            })
    void theMostExactRangeSaysHowMuchATypeIsWanted(String accept, BodyForm form) {
        assertThat(wanted(accept)).isEqualTo(form);
    }

    @Test
    void severalLinesAreOneList() {
        assertThat(wanted("application/json;q=0.5", "text/html")).isEqualTo(BodyForm.HTML);
    }

    @Test
    void typesAreNamedInTheOrderTheyAreWantedWithoutThoseThatAreNot() {
        AcceptHeader accept = AcceptHeader.parse(List.of("*/*;q=0.1, text/html;q=0.9, image/png;q=0, Text/Plain;a=b"));
        assertThat(accept.names()).containsExactly("text/plain", "text/html", "*/*");
        assertThat(AcceptHeader.ANYTHING.names()).isEmpty();
    }

    @Test
    void aLineThatNoHonestClientSendsSaysNothing() {
        String ranges = "text/html, ".repeat(101);
        assertThat(wanted(ranges)).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted("text/html, ".repeat(100))).isEqualTo(BodyForm.HTML);
        String padding = " ".repeat(16_384 - "text/html".length());
        assertThat(wanted("text/html" + padding)).isEqualTo(BodyForm.HTML);
        assertThat(wanted("text/html" + padding + " ")).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted(",".repeat(16_000))).isEqualTo(BodyForm.PROBLEM_JSON);
        assertThat(wanted("a/b" + ";".repeat(16_000))).isEqualTo(BodyForm.TEXT);
        assertThat(wanted("\"" + "\\".repeat(16_000))).isEqualTo(BodyForm.PROBLEM_JSON);
    }

    @Test
    void whateverIsSentSomeFormIsWanted() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String[] bits = {
            "text/html", "*/*", "*", "application/json", ";", "q=", "0.", "5", ",", "\"", "\\", " ", "\u00e9"
        };
        for (int i = 0; i < 5_000; i++) {
            StringBuilder line = new StringBuilder();
            random.ints(random.nextInt(30), 0, bits.length).forEach(bit -> line.append(bits[bit]));
            assertThat(wanted(line.toString())).as("seed %d: %s", seed, line).isNotNull();
        }
    }
}
