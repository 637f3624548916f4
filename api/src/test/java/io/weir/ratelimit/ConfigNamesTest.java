// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ConfigNamesTest {

    @Test
    void algorithmsHaveConfigurationNames() {
        assertThat(Arrays.stream(Algorithm.values()).map(Algorithm::configName))
                .containsExactly("fixed-window", "sliding-window", "sliding-log", "token-bucket", "leaky-bucket");
    }

    @Test
    void failureModesHaveConfigurationNames() {
        assertThat(Arrays.stream(FailureMode.values()).map(FailureMode::configName))
                .containsExactly("open", "closed", "local", "sample");
    }
}
