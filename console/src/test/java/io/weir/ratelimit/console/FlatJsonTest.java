// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JSON that the page sends, and what others could send in its place. */
class FlatJsonTest {
    @Test
    void textsAndArraysOfTextsAreRead() {
        assertThat(FlatJson.parse(" { \"a\" : \"b\" ,\n\"c\":[ ], \"d\":[\"e\",\t\"\" ]\r}\n"))
                .containsExactly(Map.entry("a", "b"), Map.entry("c", List.of()), Map.entry("d", List.of("e", "")));
        assertThat(FlatJson.parse("{}")).isEmpty();
    }

    @Test
    void escapesStandForTheirCharacters() {
        assertThat(FlatJson.parse("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00é\"}"))
                .containsEntry("a", "\"\\/\b\f\n\r\té😀é");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "\"a\"",
                "[]",
                "{",
                "}",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":\"b\"",
                "{\"a\":\"b\",}",
                "{,}",
                "{\"a\":\"b\"}x",
                "{\"a\":\"b\"}{}",
                "{\"a\":\"b\" \"c\":\"d\"}",
                "{a:\"b\"}",
                "{'a':'b'}",
                "{\"a\":1}",
                "{\"a\":true}",
                "{\"a\":null}",
                "{\"a\":{}}",
                "{\"a\":{\"b\":\"c\"}}",
                "{\"a\":[1]}",
                "{\"a\":[[\"b\"]]}",
                "{\"a\":[\"b\",]}",
                "{\"a\":[,]}",
                "{\"a\":[\"b\"}",
                "{\"a\":\"b\",\"a\":\"c\"}",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12\"}",
                "{\"a\":\"\\u12g4\"}",
                "{\"a\":\"\\u١٢٣٤\"}",
                "{\"a\":\"\\",
                "{\"a\":\"\n\"}",
                "{\"a\":\"\u0000\"}",
                "{\"a\":\"\\uD83D\"}",
                "{\"a\":\"\\uDE00\\uD83D\"}",
                "{\"a\":\"b\"}//c",
                "/**/{}",
                "\uFEFF{}",
                "{\"a\":\"b\"\u00a0}"
            })
    void allElseIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlatJson.parse(text))
                .withMessageStartingWith("this is not the JSON that is expected");
    }

    @Test
    void deepNestingCostsNothing() {
        assertThatIllegalArgumentException().isThrownBy(() -> FlatJson.parse("{\"a\":" + "[".repeat(1_000_000)));
    }

    @Test
    void brokenTextIsReadOrRefusedAndNothingElse() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String whole = "{\"policy\":\"a\\u0041\\n\",\"parts\":[\"b\",\"\\\"\"]}";
        String odd = "{}[]\",:\\u0 a\n";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder broken = new StringBuilder(whole);
            for (int n = random.nextInt(3) + 1; n > 0; n--) {
                broken.setCharAt(random.nextInt(broken.length()), odd.charAt(random.nextInt(odd.length())));
            }
            try {
                FlatJson.parse(broken.toString());
            } catch (IllegalArgumentException e) {
                assertThat(e).as("seed %d: %s", seed, broken).hasMessageStartingWith("this is not");
            }
        }
    }
}
