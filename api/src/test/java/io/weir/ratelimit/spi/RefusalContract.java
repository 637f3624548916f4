// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import java.time.Duration;

/** A refused call costs the caller nothing, neither permits nor time. */
interface RefusalContract extends ContractFixture {

    @EachAlgorithm
    default void aHundredRefusalsChangeNothing(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 8);
        time().advanceMicros(3_000_017);
        Quota before = key.peek(limit, 5);
        for (int call = 0; call < 100; call++) {
            assertThat(key.refusal(limit, 5)).isEqualTo(before);
        }
        assertThat(key.peek(limit, 5)).isEqualTo(before);
    }

    @EachAlgorithm
    default void aKeyThatWasRefusedRecoversAsOneThatWasNot(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey patient = key();
        TestKey poller = key();
        patient.spend(limit, 10);
        poller.spend(limit, 10);
        for (int call = 0; call < 200; call++) {
            time().advanceMicros(777_777);
            poller.refusal(limit, 11);
            assertThat(poller.peek(limit, 10)).isEqualTo(patient.peek(limit, 10));
        }
        assertThat(patient.remaining(limit)).isEqualTo(10);
    }

    @EachAlgorithm
    default void aPollerFasterThanTheRefillGetsInOnTime(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(1));
        TestKey poller = key();
        poller.spend(limit, 10);
        long due = time().micros() + poller.refusal(limit, 1).retryAfterMicros();
        long step = (due - time().micros()) / 97;
        while (time().micros() + step < due) {
            time().advanceMicros(step);
            assertThat(poller.refusal(limit, 1).retryAfterMicros()).isEqualTo(due - time().micros());
        }
        time().advanceMicros(due - time().micros());
        poller.spend(limit, 1);
    }

    @EachAlgorithm
    default void aRefusalBeforeTheFirstCallDoesNotStartAWindow(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey refused = key();
        TestKey untouched = key();
        refused.refusal(limit, 11);
        time().advanceMicros(45_000_000);
        assertThat(refused.spend(limit, 10).quotas())
                .isEqualTo(untouched.spend(limit, 10).quotas());
    }
}
