// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of structured fields (RFC 9651). */
class StructuredFieldsTest {
    private static Map<String, String> parameters(String text) {
        return StructuredFields.list(text).orElseThrow().get(0).parameters();
    }

    @Test
    @Tag("field")
    void parametersOfAllTypesAreValid() {
        assertThat(parameters("\"a\";r=1;t=2;x=@1659578233"))
                .containsExactlyInAnyOrderEntriesOf(Map.of("r", "1", "t", "2", "x", "1659578233"));
        assertThat(parameters("\"a\";r=1;t=2;x=%\"f%c3%bc\"")).isEqualTo(Map.of("r", "1", "t", "2"));
        assertThat(parameters("a;r=1.125;s=\"x\\\"y\";k=token/1;b=?1;c;d=:aGVsbG8=:;n=-5"))
                .isEqualTo(Map.of("r", "1.125", "s", "x\"y", "k", "token/1", "n", "-5"));
        assertThat(parameters("a;r=123456789012.123")).isEqualTo(Map.of("r", "123456789012.123"));
        assertThat(parameters("a;x=::;y=:aGVsbG8:")).isEmpty();
        assertThat(parameters("a;r=1;r=?0"))
                .as("the last of equal keys applies")
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x;p=1.1234",
                "x;p=1.",
                "x;p=1234567890123.0",
                "x;p=1234567890123456",
                "x;p=:a=GVsbG8=:",
                "x;p=:_-Ah:",
                "x;p=:aGVsb G8=:",
                "x;p=:aGVsbG8=",
                "x;p=@1.5",
                "x;p=@",
                "x;p=%\"f%C3%BC\"",
                "x;p=%\"%c3\"",
                "x;p=%\"%c\"",
                "x;p=%\"a",
                "x;p=%a",
                "x;p=%\"ü\"",
                "x;p=6m0s",
            })
    @Tag("field")
    void malformedParameterInvalidatesTheField(String text) {
        assertThat(StructuredFields.list(text)).isEmpty();
    }

    @Test
    @Tag("field")
    void listHasAsManyMembersAsTheStandardRequires() {
        assertThat(StructuredFields.list(String.join(", ", Collections.nCopies(1_024, "\"a\";r=1;t=60"))))
                .hasValueSatisfying(items -> assertThat(items).hasSize(1_024));
        assertThat(StructuredFields.list(String.join(",", Collections.nCopies(1_025, "a"))))
                .isEmpty();
    }
}
