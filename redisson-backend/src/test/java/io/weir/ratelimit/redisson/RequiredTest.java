// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A tool is required when the list names it, and only then. */
class RequiredTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
                    docker,               true
                    'newer-jdk,docker',   true
                    'newer-jdk , docker', true
                    ' docker ',           true
                    '',                   false
                    newer-jdk,            false
                    no-docker,            false
                    """)
    void aListNamesTools(String list, boolean required) {
        assertThat(Required.among(list, "docker")).isEqualTo(required);
    }
}
