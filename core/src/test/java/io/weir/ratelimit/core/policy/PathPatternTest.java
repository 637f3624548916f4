// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathPatternTest {

    @ParameterizedTest
    @CsvSource({
        "/api/search,           /api/search,            true",
        "/api/search,           /api/search/,           true",
        "/api/search/,          /api/search,            true",
        "/api/search,           /api/search/more,       false",
        "/api/search,           /api,                   false",
        "/api/search,           /api/Search,            false",
        "/api/search,           //api///search,         true",
        "/api/search,           /api;v=1/search;q=2,    true",
        "/api/search,           /%61pi/s%65arch,        true",
        "/api/search,           /api%2Fsearch,          false",
        "/api/orgs/{org}/users, /api/orgs/acme/users,   true",
        "/api/orgs/{org}/users, /api/orgs/a%2Fb/users,  true",
        "/api/orgs/{org}/users, /api/orgs/users,        false",
        "/api/orgs/{org},       /api/orgs/acme/users,   false",
        "/api/admin/*,          /api/admin,             true",
        "/api/admin/*,          /api/admin/,            true",
        "/api/admin/*,          /api/admin/a/b/c,       true",
        "/api/admin/*,          /api/administrator,     false",
        "/*,                    /,                      true",
        "/*,                    /anything/at/all,       true",
        "/,                     /,                      true",
        "/,                     /x,                     false",
        "/caf\u00e9,            /caf%C3%A9,             true",
        "/a/b,                  /a/%zz/b,               false",
    })
    @Tag("field")
    void aPathMatchesInAnySpelling(String pattern, String raw, boolean matches) {
        assertThat(PathPattern.parse(pattern).matches(RequestPath.of(raw))).isEqualTo(matches);
    }

    @ParameterizedTest
    @CsvSource({
        "/*,             /api/*,          true",
        "/api/*,         /api,            true",
        "/api/*,         /api/{id}/all/*, true",
        "/api/{id},      /api/search,     true",
        "/api/{id}/*,    /api/{x}/*,      true",
        "/api/search,    /api/search,     true",
        "/api/search,    /api/{id},       false",
        "/api/search,    /api/other,      false",
        "/api/health,    /api/*,          false",
        "/api/{id},      /api/search/*,   false",
        "/api/{id},      /api,            false",
        "/api/{id}/*,    /api/*,          false",
    })
    void aPatternCoversTheOnesThatMatchNoOtherPath(String pattern, String other, boolean covers) {
        assertThat(PathPattern.parse(pattern).covers(PathPattern.parse(other))).isEqualTo(covers);
    }

    @Test
    void theMostSpecificPatternDependsOnTheFirstSegmentThatDiffers() {
        List<PathPattern> paths = Stream.of(
                        "/*",
                        "/api/*",
                        "/api/{kind}",
                        "/api/{kind}/all",
                        "/api/search",
                        "/api/search/*",
                        "/api/search/{id}")
                .map(PathPattern::parse)
                .toList();
        assertThat(mostSpecific(paths, "/other")).isEqualTo("/*");
        assertThat(mostSpecific(paths, "/api")).isEqualTo("/api/*");
        assertThat(mostSpecific(paths, "/api/export")).isEqualTo("/api/{kind}");
        assertThat(mostSpecific(paths, "/api/export/all")).isEqualTo("/api/{kind}/all");
        assertThat(mostSpecific(paths, "/api/search")).isEqualTo("/api/search");
        assertThat(mostSpecific(paths, "/api/search/all")).isEqualTo("/api/search/{id}");
        assertThat(mostSpecific(paths, "/api/search/7/more")).isEqualTo("/api/search/*");
    }

    private static String mostSpecific(List<PathPattern> paths, String raw) {
        return PathPattern.mostSpecific(paths, RequestPath.of(raw))
                .orElseThrow()
                .toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "api",
                "",
                "api/*",
                "/a//b",
                "/a/*/b",
                "/a*",
                "/**",
                "/{}",
                "/{a",
                "/a}",
                "/{a b}",
                "/{a:\\d+}",
                "/a?b=c",
                "/a b",
                "/a#b",
                "/a;b",
                "/%61",
                "/a\"b"
            })
    void rejectsOtherText(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> PathPattern.parse(text));
    }

    @ParameterizedTest
    @CsvSource({
        "/api/search, /api, true",
        "/api/search, /api/search, true",
        "/api/search, '', true",
        "/api, /api, true",
        "/api, /api/search, false",
        "/api/*, /api/search, true",
        "/*, /api/search, true",
        "/{any}/search, /api, true",
        "/{any}, /api/search, false",
        "/hello, /api, false",
        "/hello/*, /api, false",
        "/apis, /api, false",
        "/, /api, false",
    })
    void reachesAPathIfARequestAtOrBelowItCanMatch(String pattern, String prefix, boolean reaches) {
        assertThat(PathPattern.parse(pattern).reaches(RequestPath.of(prefix))).isEqualTo(reaches);
    }

    @Test
    void templatesOfOtherNamesMatchTheSame() {
        assertThat(PathPattern.parse("/orgs/{org}"))
                .isEqualTo(PathPattern.parse("/orgs/{id}/"))
                .hasSameHashCodeAs(PathPattern.parse("/orgs/{id}"))
                .isNotEqualTo(PathPattern.parse("/orgs/*"))
                .isNotEqualTo(PathPattern.parse("/orgs/org"))
                .hasToString("/orgs/{org}");
    }

    /** A quadratic parser would need seconds for a path that a server accepts. */
    @Test
    @Timeout(value = 10, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void parsesALongPathInLinearTime() {
        assertThat(RequestPath.of("/a".repeat(2_000_000)).segments()).hasSize(2_000_000);
    }

    @Test
    void anInvalidEscapeStaysUnchanged() {
        assertThat(RequestPath.of("/a%/%4/%zz/%c3").segments()).containsExactly("a%", "%4", "%zz", "\ufffd");
        assertThat(RequestPath.of("").segments()).isEmpty();
        assertThat(RequestPath.of(";x/y").segments()).containsExactly("y");
    }
}
