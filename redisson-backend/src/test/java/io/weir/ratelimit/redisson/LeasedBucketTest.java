// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.LeaseTable;
import io.weir.ratelimit.redisson.lease.LeasedPermits;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Refund;
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

/** Leases do not make the burst of a bucket larger. */
class LeasedBucketTest {
    private static final int BURST = 600;
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 600, Duration.ofMinutes(1), BURST);
    private static final Charge ONE = new Charge(new PolicyLimits("api", List.of(LIMIT)).withLease(100), "k.hot", 1);

    private final ModelTime time = new ModelTime();
    private final LeaseModelBackend backend = new LeaseModelBackend(time);

    private final class Instance implements PermitSource {
        private final LeaseTable leases = new LeaseTable(
                this,
                RedisKeys.of("test"),
                new RejectionCache(RedisKeys.of("test")),
                this::nanos,
                (nanos, task) -> time.in(nanos / 1_000, task),
                held -> {});

        private long nanos() {
            return time.micros() * 1_000;
        }

        @Override
        public CompletionStage<AcquireResult> acquire(Charge charge) {
            return CompletableFuture.completedFuture(backend.decide(charge, nanos()));
        }

        @Override
        public CompletableFuture<Void> refund(Refund refund) {
            backend.refund(refund);
            return CompletableFuture.completedFuture(null);
        }

        @Nullable
        BackendReceipt call() {
            LeasedPermits leased = leases.spend(ONE, 0, nanos());
            if (leased != null) {
                return new BackendReceipt(List.of(leased.receiptEntry()));
            }
            AcquireResult result = backend.decide(ONE, nanos());
            if (!result.spent()) {
                return null;
            }
            LimitState state = result.charges().get(0).states().get(0);
            leases.recordAllowed(ONE, state.remaining(LIMIT, backend.now()), nanos());
            return new BackendReceipt(result.charges());
        }

        int calls(int times) {
            int allowed = 0;
            for (int call = 0; call < times; call++) {
                allowed += call() == null ? 0 : 1;
            }
            return allowed;
        }
    }

    @Test
    void aRefundOfAnIdleInstanceDoesNotProlongTheLeaseOfAnother() {
        Instance idle = new Instance();
        Instance active = new Instance();
        idle.calls(17);
        active.calls(17);
        for (int i = 0; i < 11; i++) {
            time.passTo(time.micros() + 900_000);
            active.calls(1);
        }
        assertThat(active.calls(2 * BURST)).as("allowed in one instant").isLessThanOrEqualTo(BURST);
    }

    @Test
    void permitsThatReturnedToTheBucketAreNotRefundedToALease() {
        Instance instance = new Instance();
        List<BackendReceipt> old = new ArrayList<>();
        for (int call = 0; call < 300; call++) {
            time.passTo(time.micros() + 50_000);
            old.add(instance.call());
        }
        time.passTo(time.micros() + 120_000_000);
        assertThat(backend.state(LIMIT).remaining(LIMIT, backend.now())).isEqualTo(BURST);
        int burst = instance.calls(300);
        for (BackendReceipt receipt : old) {
            if (!instance.leases.refund(receipt)) {
                backend.refund(receipt);
            }
            burst += instance.calls(1);
        }
        burst += instance.calls(2 * BURST);
        assertThat(burst).as("allowed in one instant").isLessThanOrEqualTo(BURST);
    }
}
