// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** No burst of a bucket is greater for what was taken ahead and comes back. */
class LeasedBucketTest {
    private static final int BURST = 600;
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 600, Duration.ofMinutes(1), BURST);
    private static final Charge ONE = new Charge(new PolicyLimits("api", List.of(LIMIT)).withLease(100), "k.hot", 1);

    private final ModelTime time = new ModelTime();
    private final LeaseModelStore store = new LeaseModelStore(time);

    private final class Instance implements Lease.Store {
        private final Leases leases = new Leases(
                this,
                StoredKeys.of("test"),
                new Restraint(StoredKeys.of("test")),
                this::nanos,
                (nanos, task) -> time.in(nanos / 1_000, task),
                held -> {});

        private long nanos() {
            return time.micros() * 1_000;
        }

        @Override
        public CompletionStage<Answer> takeAhead(Charge charge) {
            return CompletableFuture.completedFuture(store.decide(charge, nanos()));
        }

        @Override
        public CompletableFuture<Void> giveBack(GiveBack what) {
            store.giveBack(what);
            return CompletableFuture.completedFuture(null);
        }

        @Nullable
        BackendReceipt call() {
            Lease.Taken taken = leases.take(ONE, false, nanos());
            if (taken != null) {
                return BackendReceipt.of(List.of(taken.entry()));
            }
            Answer answer = store.decide(ONE, nanos());
            if (!answer.spent()) {
                return null;
            }
            leases.admitted(ONE, answer.states().get(0).remaining(LIMIT, store.now()), nanos());
            return new BackendReceipt(List.of(ONE), answer.states());
        }

        int calls(int times) {
            int admitted = 0;
            for (int call = 0; call < times; call++) {
                admitted += call() == null ? 0 : 1;
            }
            return admitted;
        }
    }

    @Test
    void whatAnIdleInstanceGivesBackLetsNoOtherKeepItsPermitsForLonger() {
        Instance idle = new Instance();
        Instance active = new Instance();
        idle.calls(17);
        active.calls(17);
        for (int i = 0; i < 11; i++) {
            time.passTo(time.micros() + 900_000);
            active.calls(1);
        }
        assertThat(active.calls(2 * BURST)).as("admitted in one instant").isLessThanOrEqualTo(BURST);
    }

    @Test
    void whatHasReturnedToTheBucketIsNotGivenBackIntoALease() {
        Instance instance = new Instance();
        List<BackendReceipt> old = new ArrayList<>();
        for (int call = 0; call < 300; call++) {
            time.passTo(time.micros() + 50_000);
            old.add(instance.call());
        }
        time.passTo(time.micros() + 120_000_000);
        assertThat(store.state(LIMIT).remaining(LIMIT, store.now())).isEqualTo(BURST);
        int burst = instance.calls(300);
        for (BackendReceipt receipt : old) {
            if (!instance.leases.takeBack(receipt)) {
                store.giveBack(receipt);
            }
            burst += instance.calls(1);
        }
        burst += instance.calls(2 * BURST);
        assertThat(burst).as("admitted in one instant").isLessThanOrEqualTo(BURST);
    }
}
