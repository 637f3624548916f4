// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.response.RejectionProblems;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class BodyFormatTest {
    private static RejectionProblems.Problem problem(String detail, OptionalLong wait, Optional<String> help) {
        return new RejectionProblems.Problem(
                429, "Too Many Requests", "about:blank", "word", detail, List.of("api"), wait, help);
    }

    @Test
    void aPageShowsTheMessageAndTheHelp() {
        RejectionProblems.Problem problem = problem("Used up.", OptionalLong.of(17), Optional.of("/limits?a&b"));
        assertThat(BodyFormat.HTML.render(problem)).isEqualTo("""
                        <!DOCTYPE html>
                        <html lang="en"><head><meta charset="utf-8"><title>Too Many Requests</title></head>
                        <body><h1>Too Many Requests</h1>
                        <p>Used up. Try again in 17 seconds.</p>
                        <p><a rel="help" href="/limits?a&amp;b">Help</a></p>
                        </body></html>
                        """);
        assertThat(BodyFormat.HTML.mediaType()).isEqualTo("text/html;charset=UTF-8");
    }

    @Test
    void aPageEscapesText() {
        String html = BodyFormat.HTML.render(
                problem("<script>'&\"</script>", OptionalLong.empty(), Optional.of("\"><script>'")));
        assertThat(html)
                .contains("<p>&lt;script&gt;&#39;&amp;&quot;&lt;/script&gt;</p>")
                .contains("href=\"&quot;&gt;&lt;script&gt;&#39;\"")
                .doesNotContain("<script>");
    }

    @Test
    void aTextHasTheMessageAndTheHelp() {
        assertThat(BodyFormat.TEXT.render(problem("Used up.", OptionalLong.of(1), Optional.of("/limits"))))
                .isEqualTo("Used up. Try again in 1 second. See /limits\n");
        assertThat(BodyFormat.TEXT.render(problem("Never.", OptionalLong.empty(), Optional.empty())))
                .isEqualTo("Never.\n");
        assertThat(BodyFormat.TEXT.mediaType()).isEqualTo("text/plain;charset=UTF-8");
    }

    @Test
    void bothKindsOfJsonHaveTheSameMembers() {
        RejectionProblems.Problem problem = problem("Used up.", OptionalLong.of(17), Optional.of("/limits"));
        assertThat(BodyFormat.JSON.render(problem))
                .isEqualTo("{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,"
                        + "\"detail\":\"Used up.\",\"violated-policies\":[\"api\"],\"error\":\"word\",\"retry_after\":17,"
                        + "\"message\":\"Used up. Try again in 17 seconds.\",\"help\":\"/limits\"}")
                .isEqualTo(BodyFormat.PROBLEM_JSON.render(problem));
    }

    @Test
    void stringsInJsonAreEscaped() {
        assertThat(BodyFormat.JSON.render(problem("a\"b\\c\nd\u0000\u20ace", OptionalLong.empty(), Optional.empty())))
                .contains("\"detail\":\"a\\\"b\\\\c\\u000ad\\u0000\\u20ace\"");
    }
}
