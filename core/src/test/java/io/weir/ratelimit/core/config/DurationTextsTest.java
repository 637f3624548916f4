// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextsTest {

    @ParameterizedTest
    @CsvSource({
        "500ms, PT0.5S",
        "10s, PT10S",
        "1m, PT1M",
        "24h, PT24H",
        "7d, PT168H",
        "0s, PT0S",
        "007s, PT7S",
        "366d, PT8784H",
        "999999999999999999ms, PT277777777777H46M39.999S"
    })
    void parsesAWholeNumberWithAUnit(String text, Duration expected) {
        assertThat(ConfigReader.duration(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "s",
                "10",
                "-1s",
                "+1s",
                "1.5s",
                "1,5s",
                "10 s",
                " 10s",
                "10s ",
                "10S",
                "1M",
                "10sec",
                "1m30s",
                "PT10S",
                "1us",
                "1w",
                "1e3s",
                "0x1s",
                "\u0661s",
                "\uff11s",
                "1\u0000s",
                "10s\n",
                "9999999999999999999s",
                "null"
            })
    void rejectsOtherTextWithTheValueAndTheForm(String text) {
        assertThatThrownBy(() -> ConfigReader.duration(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"" + text
                        + "\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s");
    }

    @Test
    void rejectsADurationThatOverflows() {
        assertThatThrownBy(() -> ConfigReader.duration("999999999999999999d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"999999999999999999d\" is too long");
    }
}
