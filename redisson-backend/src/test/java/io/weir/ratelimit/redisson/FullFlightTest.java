// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long one flight can keep Redis busy. */
class FullFlightTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 100_000, Duration.ofHours(1))));

    private static Check check(long cost) {
        List<Charge> charges = List.of(new Charge(API, "k.a", cost));
        return new Check(charges, StoredKeys.of("test").of(charges), true, 0, 0);
    }

    @Test
    void checksOfOneKeyThatDifferAreBound() {
        Flight flight = new Flight(check(1));
        int aboard = 1;
        while (aboard < 5_000 && flight.board(check(1 + aboard % 2))) {
            aboard++;
        }
        assertThat(aboard).isEqualTo(1_024);
        assertThat(flight.board(check(2))).as("equal to the last one").isTrue();
    }

    @Test
    void equalChecksAreOneQuestionHoweverMany() {
        Flight flight = new Flight(check(1));
        for (int aboard = 1; aboard < 8_192; aboard++) {
            assertThat(flight.board(check(1))).isTrue();
        }
        assertThat(flight.checks()).isEqualTo(8_192);
        assertThat(flight.argument(0)).hasSize(53);
    }
}
