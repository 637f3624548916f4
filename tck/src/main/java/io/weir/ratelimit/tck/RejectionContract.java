// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;

/** A rejected call spends no permits and delays no recovery. */
interface RejectionContract extends ContractFixture {

    @EachAlgorithm
    default void rejectionsDoNotChangeTheKey(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey key = key();
        key.spend(limit, 8);
        time().advanceMicros(3_000_017);
        Quota before = key.peek(limit, 5);
        for (int call = 0; call < 100; call++) {
            assertThat(key.rejection(limit, 5)).isEqualTo(before);
        }
        assertThat(key.peek(limit, 5)).isEqualTo(before);
    }

    @EachAlgorithm
    default void rejectionsDoNotDelayRecovery(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey idle = key();
        TestKey polling = key();
        idle.spend(limit, 10);
        polling.spend(limit, 10);
        for (int call = 0; call < 200; call++) {
            time().advanceMicros(777_777);
            polling.rejection(limit, 11);
            assertThat(polling.peek(limit, 10)).isEqualTo(idle.peek(limit, 10));
        }
        assertThat(idle.remaining(limit)).isEqualTo(10);
    }

    @EachAlgorithm
    default void pollingDoesNotExtendRetryAfter(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofSeconds(1));
        TestKey polling = key();
        polling.spend(limit, 10);
        long due = time().micros() + QuotaMicros.retryAfter(polling.rejection(limit, 1));
        long step = (due - time().micros()) / 97;
        while (time().micros() + step < due) {
            time().advanceMicros(step);
            assertThat(QuotaMicros.retryAfter(polling.rejection(limit, 1))).isEqualTo(due - time().micros());
        }
        time().advanceMicros(due - time().micros());
        polling.spend(limit, 1);
    }

    @EachAlgorithm
    default void rejectionDoesNotStartAWindow(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofMinutes(1));
        TestKey rejected = key();
        TestKey untouched = key();
        rejected.rejection(limit, 11);
        time().advanceMicros(45_000_000);
        assertThat(rejected.spend(limit, 10).quotas())
                .isEqualTo(untouched.spend(limit, 10).quotas());
    }
}
