// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.fixtures.Growth;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JSON parser, with valid and invalid input. */
class FlatJsonTest {
    @Test
    void parsesStringsAndArraysOfStrings() {
        assertThat(FlatJson.parse(" { \"a\" : \"b\" ,\n\"c\":[ ], \"d\":[\"e\",\t\"\" ]\r}\n"))
                .containsExactly(Map.entry("a", "b"), Map.entry("c", List.of()), Map.entry("d", List.of("e", "")));
        assertThat(FlatJson.parse("{}")).isEmpty();
    }

    @Test
    void parsesEscapes() {
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
    void rejectsEverythingElse(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlatJson.parse(text))
                .withMessageStartingWith("invalid JSON: ");
    }

    @Test
    void rejectsDeepNestingAtOnce() {
        assertThatIllegalArgumentException().isThrownBy(() -> FlatJson.parse("{\"a\":" + "[".repeat(1_000_000)));
    }

    @Test
    void mutatedTextIsParsedOrRejected() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String valid = "{\"policy\":\"a\\u0041\\n\",\"parts\":[\"b\",\"\\\"\"]}";
        String replacements = "{}[]\",:\\u0 a\n";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder mutated = new StringBuilder(valid);
            for (int n = random.nextInt(3) + 1; n > 0; n--) {
                mutated.setCharAt(
                        random.nextInt(mutated.length()), replacements.charAt(random.nextInt(replacements.length())));
            }
            try {
                FlatJson.parse(mutated.toString());
            } catch (IllegalArgumentException e) {
                assertThat(e).as("seed %d: %s", seed, mutated).hasMessageStartingWith("invalid JSON: ");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "\\", "\"", "a", "\\u0041", "[", "\"a\":\"b\",", "\"a\",", "{"})
    void aBodyIsReadInLinearTime(String part) {
        for (int i = 0; i < 200; i++) {
            read(part, PostedJson.MAX_BYTES);
        }
        Growth.isLinear("a body of " + part, PostedJson.MAX_BYTES, size -> {
            for (int i = 0; i < 50; i++) {
                read(part, size);
            }
        });
    }

    private static void read(String part, int length) {
        String text = part.repeat(length / part.length());
        for (String start : List.of("", "{", "{\"", "{\"a\":\"", "{\"a\":[")) {
            try {
                FlatJson.parse(start + text);
            } catch (IllegalArgumentException e) {
                // The text is no object.
            }
        }
    }
}
