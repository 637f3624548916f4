// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Growth;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The check for requests of the same origin. */
class SameOriginTest {
    private static boolean matches(Map<String, List<String>> headers) {
        return SameOrigin.matches(name -> headers.getOrDefault(name, List.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "same-origin, true",
        "same-site, false",
        "cross-site, false",
        "none, false",
        "Same-Origin, false",
        "'', false"
    })
    void fetchMetadataDecidesAlone(String site, boolean expected) {
        assertThat(matches(Map.of(
                        "Sec-Fetch-Site", List.of(site), "Origin", List.of("http://h:1"), "Host", List.of("h:1"))))
                .isEqualTo(expected);
        assertThat(matches(Map.of("Sec-Fetch-Site", List.of(site), "Origin", List.of("null"))))
                .isEqualTo(expected);
    }

    @Test
    void rejectsRepeatedHeaders() {
        assertThat(matches(Map.of("Sec-Fetch-Site", List.of("same-origin", "same-origin"))))
                .isFalse();
        assertThat(matches(Map.of("Origin", List.of("http://h", "http://h"), "Host", List.of("h"))))
                .isFalse();
        assertThat(matches(Map.of("Origin", List.of("http://h"), "Host", List.of("h", "h"))))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "http://example.org,        example.org",
        "http://example.org:9080,   example.org:9080",
        "https://example.org,       example.org",
        "https://example.org,       example.org:443",
        "http://example.org:80,     example.org",
        "HTTP://EXAMPLE.ORG:9080,   example.org:9080",
        "http://example.org,        Example.Org",
        "http://[::1]:9080,         [::1]:9080",
        "http://127.0.0.1:9080,     127.0.0.1:9080",
    })
    void acceptsAnOriginThatMatchesTheHost(String origin, String host) {
        assertThat(matches(Map.of("Origin", List.of(origin), "Host", List.of(host))))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "null,                            example.org",
        "'',                              example.org",
        "http://example.org:9081,         example.org:9080",
        "http://example.org,              example.org:9080",
        "http://example.org:9080,         example.org",
        "https://example.org,             example.org:80",
        "http://a.example.org,            example.org",
        "http://example.org,              a.example.org",
        "http://example.org.evil.example, example.org",
        "http://example.org@evil.example, example.org",
        "http://evil.example/example.org, example.org",
        "http://example.org/,             example.org",
        "http://localhost:9080,           127.0.0.1:9080",
        "example.org,                     example.org",
        "file://,                         example.org",
        "chrome-extension://example.org,  example.org",
        "http://example.org,              ''",
    })
    void rejectsOtherOrigins(String origin, String host) {
        assertThat(matches(Map.of("Origin", List.of(origin), "Host", List.of(host))))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Origin", "Host"})
    void rejectsMissingHeaders(String present) {
        assertThat(matches(Map.of(present, List.of(present.equals("Host") ? "example.org" : "http://example.org"))))
                .isFalse();
        assertThat(matches(Map.of())).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "-", ".", "a-", "[", "[a:", ":", ":1", "http://", "@", "/"})
    @Tag("field")
    void aFieldIsReadInLinearTime(String part) {
        Growth.isLinear("an origin of " + part, 200_000, size -> {
            String text = part.repeat(size / part.length());
            assertThat(matches(Map.of("Origin", List.of("http://" + text), "Host", List.of(text))))
                    .isFalse();
            assertThat(matches(Map.of("Origin", List.of("http://a"), "Host", List.of(text + "!"))))
                    .isFalse();
        });
    }
}
