// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the slots of the local backend are linearizable: calls, releases, refunds and renewals of one key. */
class SlotsLinearizabilityTest {
    private static final int SLOTS = 2;
    private static final int PERMITS = 3;

    @ParameterizedTest
    @EnumSource
    void slotsAreTakenAndReleasedAtomically(LocalBackendLinearizabilityTest.Search search) {
        search.check(Slots.class, SequentialSlots.class);
    }

    /** A key with the slots of one running call, and with a limit beside them that the call has charged as well. */
    public static class Slots {
        private static final Charge CHARGE = new Charge(
                new PolicyLimits(
                        "slow",
                        List.of(
                                Limit.of(Algorithm.FIXED_WINDOW, PERMITS, Duration.ofHours(1)),
                                Limit.concurrency(SLOTS, Duration.ofHours(1)))),
                "k.0",
                1);

        private final LocalBackend backend = new LocalBackend(10, () -> 1);
        private final Receipt running = backend.acquire(List.of(CHARGE)).receipt();

        @Operation
        public String acquire() {
            Decision decision = backend.acquire(List.of(CHARGE));
            return (decision.allowed() ? "allowed " : "rejected ")
                    + decision.quotas().get(1).remaining();
        }

        @Operation
        public void release() {
            backend.release(running).toCompletableFuture().join();
        }

        @Operation
        public void renew() {
            backend.renew(List.of(running)).toCompletableFuture().join();
        }

        @Operation
        public int peek() {
            return (int) backend.peek(List.of(CHARGE)).get(1).remaining();
        }
    }

    /** The sequential specification of {@link Slots}. */
    public static class SequentialSlots {
        private int spent = 1;
        private int held = 1;
        private boolean released;

        public String acquire() {
            boolean allowed = spent < PERMITS && held < SLOTS;
            if (allowed) {
                spent++;
                held++;
            }
            return (allowed ? "allowed " : "rejected ") + (SLOTS - held);
        }

        public void release() {
            held -= released ? 0 : 1;
            released = true;
        }

        public void renew() {
            // no slot expires here
        }

        public int peek() {
            return SLOTS - held;
        }
    }
}
