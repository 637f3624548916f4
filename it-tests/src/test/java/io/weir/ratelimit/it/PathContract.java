// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Path rules, before and after a request is matched to a method. */
interface PathContract extends PolicyClient {
    String BY_PATH = "\"by-path\";q=3;w=3600";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "api/ruled/plain",
                "api/ruled/of/one/parts",
                "api/ruled/tree/deep/below",
                "api/ruled/tree",
                "api/ruled/tree/shallow",
                "api/ruled/located/here"
            })
    default void resourceWithoutAnnotationIsLimitedByItsPath(String path) {
        HttpResponse<String> first = get(path);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.field(first, "RateLimit-Policy")).isEqualTo(BY_PATH);
        assertThat(LimitResponse.remaining(first)).isEqualTo(2);
        assertThat(Http.statuses(2, uri(path), fields())).containsOnly(200);
        LimitResponse.verifyRejected(get(path), "by-path");
    }

    @Test
    @Tag("field")
    default void pathRuleAppliesToItsMethods() {
        assertThat(LimitResponse.field(Http.head(uri("api/ruled/plain"), fields()), "RateLimit-Policy"))
                .as("HEAD is a GET")
                .isEqualTo(BY_PATH);
        HttpResponse<String> posted = Http.post(uri("api/ruled/plain"), "text/plain", "", fields());
        assertThat(posted.body()).isEqualTo("posted");
        assertThat(LimitResponse.policy(posted)).isEqualTo("fallback");
        assertThat(remaining("by-path")).isEqualTo(2);
    }

    @Test
    default void pathRuleAndAnnotationAreOneDecision() {
        HttpResponse<String> first = get("api/ruled/joined");
        assertThat(LimitResponse.field(first, "RateLimit-Policy"))
                .isEqualTo("\"own\";q=2;w=3600, \"joins\";q=10;w=3600");
        assertThat(remaining("joins")).isEqualTo(9);
        get("api/ruled/joined");
        LimitResponse.verifyRejected(get("api/ruled/joined"), "own");
        assertThat(remaining("own")).isZero();
        assertThat(remaining("joins")).as("a rejection spends nothing").isEqualTo(8);
    }

    @Test
    default void pathRuleAppliesToASubResource() {
        HttpResponse<String> first = get("api/ruled/located/here/own");
        assertThat(first.body()).isEqualTo("here");
        assertThat(LimitResponse.field(first, "RateLimit-Policy"))
                .isEqualTo("\"own\";q=2;w=3600, " + BY_PATH + ", \"joins\";q=10;w=3600");
        get("api/ruled/located/here/own");
        LimitResponse.verifyRejected(get("api/ruled/located/here/own"), "own");
        assertThat(List.of(remaining("own"), remaining("by-path"), remaining("joins")))
                .containsExactly(0L, 1L, 8L);
    }

    @Test
    default void pathRuleIsDecidedWithTheArgumentKey() {
        HttpResponse<String> first = get("api/ruled/argument?user=a");
        assertThat(first.body()).isEqualTo("a");
        assertThat(LimitResponse.field(first, "RateLimit-Policy"))
                .isEqualTo("\"by-argument\";q=2;w=3600, \"joins\";q=10;w=3600");
        assertThat(remaining("joins")).isEqualTo(9);
        get("api/ruled/argument?user=a");
        LimitResponse.verifyRejected(get("api/ruled/argument?user=a"), "by-argument");
        assertThat(remaining("joins")).as("a rejection spends nothing").isEqualTo(8);
        assertThat(get("api/ruled/argument?user=b").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"any/below, 1", "any, 3", "expensive, 10", "expensive/, 10", "expensive/below, 1"})
    default void mostSpecificPathDeterminesTheCost(String path, int cost) {
        assertThat(LimitResponse.remaining(get("api/ruled/priced/" + path))).isEqualTo(20 - cost);
        assertThat(remaining("priced")).isEqualTo(20 - cost);
    }

    @Test
    default void pathWithCostZeroIsFree() {
        assertThat(Http.statuses(30, uri("api/ruled/priced/free"), fields())).containsOnly(200);
        LimitResponse.verifyNoQuota(get("api/ruled/priced/free"));
        assertThat(remaining("priced")).isEqualTo(20);
        assertThat(remaining("fallback")).as("another policy applies").isEqualTo(1000);
    }

    @Test
    default void costOfAPathReplacesThatOfTheAnnotation() {
        assertThat(LimitResponse.remaining(get("api/ruled/expensive"))).isEqualTo(13);
    }

    @Test
    default void defaultPolicyAppliesWithoutOthers() {
        assertThat(LimitResponse.policy(get("api/ruled/unruled"))).isEqualTo("fallback");
        get("api/ruled/plain");
        get("api/caller/once");
        assertThat(remaining("fallback")).isEqualTo(999);
    }

    @Test
    default void exemptMethodHasNoPathRule() {
        assertThat(Http.statuses(5, uri("api/ruled/tree/exempt"), fields())).containsOnly(200);
        LimitResponse.verifyNoQuota(get("api/ruled/tree/exempt"));
        assertThat(remaining("by-path")).isEqualTo(3);
    }

    /** A caller cannot exceed the limit of a path by another spelling of the path. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "api/ruled/plain/",
                "api/ruled/plain//",
                "api//ruled/plain",
                "api/ruled//plain",
                "/api/ruled/plain",
                "api;ruled/plain",
                "api;x=y/ruled/plain",
                "api/ruled;x=y/plain",
                "api/ruled/plain;x=y",
                "api/ruled/plain;x=y/",
                "api/ruled/;x=y/plain",
                "api/ruled/pl%61in",
                "api/%72uled/plain",
                "%61pi/ruled/plain",
                "api/ruled/pl%2561in",
                "api/ruled%2Fplain",
                "api/ruled/plain%2F",
                "api/ruled/plain%2f",
                "api/ruled/plain%3Bx=y",
                "api/ruled/plain%00",
                "api/ruled/plain%20",
                "api/ruled/plain%3F",
                "api/./ruled/plain",
                "api/%2e/ruled/plain",
                "api/ruled/x/../plain",
                "api/ruled/x/%2e%2e/plain",
                "api/ruled/%2E%2E/ruled/plain",
                "api/ruled/.;x/plain",
                "api/ruled/x/..;/plain",
                "api\\ruled\\plain",
                "api/ruled/%5Cplain",
                "api/ruled/PLAIN",
                "api/ruled/pl%C0%A1in",
                "api/ruled/plain?",
                "api/ruled/plain?/../unruled",
                "api/ruled/plain#x",
                "x/../api/ruled/plain"
            })
    default void pathRuleAppliesToEverySpelling(String spelling) {
        assertThat(Http.statuses(4, uri("api/ruled/plain"), fields())).endsWith(200, 429);
        assertThat(raw(base().getPath() + spelling)).as(spelling).isNotIn(200, 204);
    }

    /** The context root has different spellings, too. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/%s;x=y/api/ruled/plain",
                "//%s/api/ruled/plain",
                "/;x/%s/api/ruled/plain",
                "/./%s/api/ruled/plain",
                "/%%2e/%s/api/ruled/plain",
                "/x/../%s/api/ruled/plain",
                "/%s//api/ruled/plain",
                "/%s/%%2e/api/ruled/plain",
                "/%s/../%1$s/api/ruled/plain"
            })
    default void pathRuleAppliesToEverySpellingOfTheContextRoot(String spelling) {
        assertThat(Http.statuses(4, uri("api/ruled/plain"), fields())).endsWith(200, 429);
        String root = base().getPath().replace("/", "");
        String encoded = root.isEmpty() ? "" : "%" + Integer.toHexString(root.charAt(0)) + root.substring(1);
        for (String each : List.of(root, encoded)) {
            assertThat(raw(String.format(spelling, each))).as(spelling).isNotIn(200, 204);
            assertThat(raw("/" + each + "/api/ruled/plain")).as(each).isNotIn(200, 204);
        }
    }

    @Test
    default void pathRuleAppliesToAnAbsoluteTarget() {
        assertThat(Http.statuses(4, uri("api/ruled/plain"), fields())).endsWith(200, 429);
        assertThat(raw(uri("api/ruled/plain").toString())).isNotIn(200, 204);
        assertThat(raw("http://localhost" + base().getPath() + "api/ruled//plain"))
                .isNotIn(200, 204);
    }

    // --- Filters of the application that change the request

    @Tag("field")
    @ParameterizedTest
    @ValueSource(strings = {"/store", "/a/b", "/shopping", ""})
    default void prefixOfTheClientDoesNotChangeTheRule(String prefix) {
        for (int left = 2; left >= 0; left--) {
            HttpResponse<String> allowed = get("api/ruled/plain", "X-Forwarded-Prefix", prefix);
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(remaining("by-path")).isEqualTo(left);
        }
        LimitResponse.verifyRejected(get("api/ruled/plain", "X-Forwarded-Prefix", prefix), "by-path");
        LimitResponse.verifyRejected(get("api/ruled/plain"), "by-path");
    }

    @Tag("field")
    @Test
    default void overriddenMethodIsThatOfTheRule() {
        HttpResponse<String> got =
                Http.post(uri("api/ruled/plain"), "text/plain", "", fields("X-HTTP-Method-Override", "GET"));
        assertThat(LimitResponse.policy(got)).isEqualTo("by-path");
        assertThat(remaining("by-path")).isEqualTo(2);
    }

    @Tag("field")
    @Test
    default void rewrittenPathIsLimitedEarly() {
        HttpResponse<String> rewritten = get("api/ruled/unruled", "X-Original-URL", "early/both");
        assertThat(rewritten.body()).isEqualTo("both");
        assertThat(List.of(remaining("early"), remaining("late"))).containsExactly(2L, 1L);
        get("api/ruled/unruled", "X-Original-URL", "early/both");
        get("api/ruled/unruled", "X-Original-URL", "early/both");
        LimitResponse.verifyRejected(get("api/ruled/unruled", "X-Original-URL", "early/both"), "early");
    }

    /** A preflight request is free, and a call that only looks like one is not. */
    @Tag("field")
    @Test
    default void overriddenPreflightRequestIsLimitedEarly() {
        String[] preflight = fields(
                "Origin", "https://a.example", "Access-Control-Request-Method", "GET", "X-HTTP-Method-Override", "GET");
        assertThat(Http.options(uri("api/early/both"), preflight).body()).isEqualTo("both");
        assertThat(List.of(remaining("early"), remaining("late"))).containsExactly(2L, 1L);
    }

    // --- Before a request is matched

    @Test
    default void requestsForUnknownPathsAreLimited() {
        assertThat(Http.statuses(5, uri("api/early/nothing"), fields())).containsExactly(404, 404, 404, 429, 429);
        HttpResponse<String> rejected = get("api/early/nothing/else");
        LimitResponse.verifyRejected(rejected, "early");
    }

    @Test
    default void unauthorizedRequestsAreLimited() {
        String wrong = Http.basic("ann", "wrong");
        List<Integer> statuses = Http.statuses(5, uri("api/early/locked"), fields("Authorization", wrong));
        assertThat(statuses.subList(0, 3)).allMatch(status -> status == 401 || status == 403);
        assertThat(statuses.subList(3, 5)).containsOnly(429);
    }

    @Test
    default void earlyAndLaterDecisionAreChargedOnceEach() {
        HttpResponse<String> first = get("api/early/both");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.field(first, "RateLimit-Policy"))
                .isEqualTo("\"early\";q=3;w=3600, \"late\";q=2;w=3600");
        assertThat(List.of(remaining("early"), remaining("late"))).containsExactly(2L, 1L);
        get("api/early/both");
        LimitResponse.verifyRejected(get("api/early/both"), "late");
        LimitResponse.verifyRejected(get("api/early/both"), "early");
        assertThat(List.of(remaining("early"), remaining("late"))).containsExactly(0L, 0L);
    }

    @Test
    default void earlyPathRuleAppliesToEverySpelling() {
        assertThat(Http.statuses(4, uri("api/early/nothing"), fields())).endsWith(404, 429);
        for (String spelling : List.of("api/early/both/", "api/early;x/both", "api//early/both", "api/e%61rly/both")) {
            assertThat(raw(base().getPath() + spelling)).as(spelling).isNotIn(200, 204);
        }
    }
}
