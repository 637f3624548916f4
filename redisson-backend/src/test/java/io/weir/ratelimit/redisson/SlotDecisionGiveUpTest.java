// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A decision over several slots that is given up at the very moment at which a part of it boards. */
class SlotDecisionGiveUpTest {
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1));
    private static final PolicyLimits API = new PolicyLimits("api", List.of(LIMIT));

    private final List<Check> givenUp = new ArrayList<>();
    private final List<Charge> givenBack = new ArrayList<>();
    private SlotDecision several;

    private final class BusyStore implements SlotDecision.Store {
        private int spending;

        @Override
        public Check check(List<Charge> charges, boolean spends) {
            Check check = new Check(charges, StoredKeys.of("test").of(charges), spends, 0, Long.MAX_VALUE);
            LimitState state = LimitState.untouched(LIMIT, 1);
            if (!spends) {
                check.complete(new Answer(List.of(state), true, false, 0, 1, 0, 0));
            } else if (spending++ == 0) {
                check.complete(new Answer(List.of(state.spend(LIMIT, 1, 1)), true, true, 0, 1, 0, 0));
            } else {
                several.giveUp();
            }
            return check;
        }

        @Override
        public void refused(Check check, Answer answer) {}

        @Override
        public void giveUp(Check check) {
            givenUp.add(check);
            check.completeExceptionally(new IllegalStateException("it was not sent"));
        }

        @Override
        public void giveBack(BackendReceipt receipt) {
            receipt.use().forEach(entry -> givenBack.add(entry.charge()));
        }
    }

    @Test
    void aPartThatBoardsMeanwhileIsGivenUpTooAndWhatWasSpentIsGivenBack() {
        Charge one = new Charge(API, "k.a", 1);
        Charge other = new Charge(API, "k.b", 1);
        several = new SlotDecision(
                List.of(one, other),
                charge -> charge.identity().hashCode(),
                new BusyStore(),
                System.nanoTime() + Duration.ofMinutes(1).toNanos());
        assertThat(several.decide()).isCompletedExceptionally();
        assertThat(givenUp).hasSize(1);
        assertThat(givenBack).containsExactly(one);
    }
}
