// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class GrowthTest {
    @Test
    void allModesRunWithoutAnArgument() {
        assertThat(GrowthOptions.parse()).isEqualTo(new GrowthOptions(GrowthOptions.MODES, false));
        assertThat(GrowthOptions.parse("quick").modes()).isEqualTo(GrowthOptions.MODES);
    }

    @Test
    void namedModesRunInTheirFixedOrder() {
        GrowthOptions options = GrowthOptions.parse("keys", "quick", "local");

        assertThat(options).isEqualTo(new GrowthOptions(List.of("local", "keys"), true));
        assertThat(options.sizes(List.of(10), List.of(1))).containsExactly(1);
    }

    @Test
    void anUnknownModeIsInvalid() {
        assertThatThrownBy(() -> GrowthOptions.parse("keys", "node"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("unknown: node");
    }

    @Test
    void aRowComparesTheLargestSizeWithTheSmallest() {
        String table = GrowthRow.table(List.of(
                new GrowthRow("1, 2, 3 masters", "calls", List.of(4.0, 55.54, 12_345.0)),
                new GrowthRow("sizes", "start", List.of(Double.NaN, Double.NaN, 5.0))));

        assertThat(table.lines().skip(2))
                .containsExactly(
                        "| 1, 2, 3 masters | calls | 4.00 | 55.5 | 12,345 | 3,086 |",
                        "| sizes | start | - | - | 5.00 | - |");
    }

    @Test
    void aStoredKeyHasTheSameLengthForEachNumber() {
        assertThat(GrowthSeries.storedKey(7)).hasSameSizeAs(GrowthSeries.storedKey(9_999_999));
    }
}
