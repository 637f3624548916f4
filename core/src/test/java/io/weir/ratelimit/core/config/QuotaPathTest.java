// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaPathTest {
    private static Problems problems(String path) {
        Problems problems = new Problems();
        new ConfigReader(Configs.of("ratelimit.quota.path=" + path), problems).optional(ConfigKeys.QUOTA_PATH);
        return problems;
    }

    @ParameterizedTest
    @ValueSource(strings = {"/rate-limits", "/a/b_c/d.json", "/api/quota"})
    void aPathIsValid(String path) {
        assertThat(problems(path).found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"rate-limits", "/", "/a/", "//a", "/*", "/a/*", "/a b", "/a%20b", "/a?b", "/a;b", "/../a", "/{a}"
            })
    void anotherTextIsReportedWithItsPropertyItsValueAndARemedy(String path) {
        assertThat(problems(path).lines())
                .containsExactly("WEIR-102 ratelimit.quota.path = " + path
                        + ": must be a path such as /rate-limits, of segments with the characters A-Z a-z 0-9 . _ -;"
                        + " correct the value");
    }
}
