// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.spi.Limit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StructuredListTest {
    @Test
    void joinsMembersByCommasAndAppendsTheirParameters() {
        StructuredList list = new StructuredList()
                .member("burst")
                .parameter("q", 100)
                .parameter("w", 60)
                .member("daily")
                .parameter("q", 1000)
                .member("bare");
        assertThat(list).hasToString("\"burst\";q=100;w=60, \"daily\";q=1000, \"bare\"");
    }

    @Test
    void escapesOnlyQuotesAndBackslashes() {
        assertThat(new StructuredList().member("a\"b\\c")).hasToString("\"a\\\"b\\\\c\"");
        assertThat(new StructuredList().member(" !,;=~")).hasToString("\" !,;=~\"");
        assertThat(new StructuredList().member("")).hasToString("\"\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r", "\t", "\0", "\u001f", "\u007f", "\u0080", "\u00e9", "\u20ac"})
    void rejectsAStringThatIsNotPrintableAscii(String character) {
        assertThatThrownBy(() -> new StructuredList().member("a" + character + "b"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "999999999999999, 999999999999999",
        "1000000000000000, 999999999999999",
        "9223372036854775807, 999999999999999"
    })
    void limitsAnIntegerToTheMaximum(long value, long sent) {
        assertThat(new StructuredList().member("a").parameter("q", value)).hasToString("\"a\";q=" + sent);
    }

    @Test
    void theMaximumIncludesAllValidLimits() {
        assertThat(Limit.MAX_PERMITS).isLessThanOrEqualTo(StructuredList.MAX_INTEGER);
        assertThat(Limit.MAX_WINDOW.toSeconds()).isLessThanOrEqualTo(StructuredList.MAX_INTEGER);
    }
}
