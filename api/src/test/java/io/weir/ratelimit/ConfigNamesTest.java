// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ConfigNamesTest {

    @Test
    void algorithmsHaveConfigurationNamesAndStoredKeyLetters() {
        assertThat(Arrays.stream(Algorithm.values()).map(a -> a.configName() + " " + a.letter()))
                .containsExactly(
                        "fixed-window f", "sliding-window s", "sliding-log g", "token-bucket t", "leaky-bucket l");
    }

    @Test
    void failureModesHaveConfigurationNames() {
        assertThat(Arrays.stream(FailureMode.values()).map(FailureMode::configName))
                .containsExactly("open", "closed", "local", "sample");
    }
}
