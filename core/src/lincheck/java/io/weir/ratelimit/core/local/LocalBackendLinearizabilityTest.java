// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Checks that the local backend is linearizable: concurrent calls return the results of some sequential order that keeps the order
 * of each caller. Each test names a guarantee and runs the operations that could violate it. A call that never returns fails every
 * test.
 *
 * <p>Lincheck generates the calls. It explores their interleavings one by one, or runs them in concurrent threads. It reports a
 * violation with the calls and their interleaving.
 */
class LocalBackendLinearizabilityTest {

    /** Immutable classes, in which Lincheck need not switch threads. */
    private static final String[] IMMUTABLE = {
        "io.weir.ratelimit.Quota",
        "io.weir.ratelimit.spi.Charge",
        "io.weir.ratelimit.spi.Limit",
        "io.weir.ratelimit.spi.PolicyLimits",
        "io.weir.ratelimit.core.limit.ChargeStates",
        "io.weir.ratelimit.core.limit.TokenBucketState",
        "io.weir.ratelimit.core.local.StateKey"
    };

    enum Search {
        INTERLEAVINGS {
            @Override
            Options<?, ?> options() {
                // A call that finds the backend full searches 64 shards. Lincheck must not report that loop as a
                // livelock.
                return new ModelCheckingOptions()
                        .iterations(8)
                        .invocationsPerIteration(100)
                        .loopBound(1_000)
                        .loopIterationsBeforeThreadSwitch(100)
                        .addGuarantee(forClasses(IMMUTABLE).allMethods().ignore());
            }
        },
        THREADS {
            @Override
            Options<?, ?> options() {
                return new StressOptions().iterations(10).invocationsPerIteration(200);
            }
        };

        abstract Options<?, ?> options();

        void check(Class<?> operations) {
            check(operations, SequentialBackend.class);
        }

        void check(Class<?> operations, Class<?> specification) {
            options()
                    .threads(2)
                    .actorsPerThread(2)
                    .actorsBefore(1)
                    .actorsAfter(1)
                    .sequentialSpecification(specification)
                    .check(operations);
        }
    }

    @ParameterizedTest
    @EnumSource
    void neverAllowsMoreThanTheLimit(Search search) {
        search.check(OneKey.class);
    }

    @ParameterizedTest
    @EnumSource
    void crossingChargesAreAtomicAndDoNotDeadlock(Search search) {
        search.check(CrossingCharges.class);
    }

    @ParameterizedTest
    @EnumSource
    void aReceiptIsRefundedOnceAndAtomically(Search search) {
        search.check(OneReceipt.class);
    }

    @ParameterizedTest
    @EnumSource
    void neverHoldsMoreKeysThanTheBound(Search search) {
        search.check(MoreKeysThanPlaces.class);
    }

    @ParameterizedTest
    @EnumSource
    void noCallIsAllowedAfterABlock(Search search) {
        search.check(BlockedKeys.class);
    }

    @ParameterizedTest
    @EnumSource
    void allOperationsAreLinearizable(Search search) {
        search.check(AnyCalls.class);
    }

    // A range of one value generates other values too, so these operations have no parameter for the key.
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class OneKey extends ConcurrentBackend {
        @Operation
        @Override
        public String acquireOfFirstKey(@Param(name = "cost") int cost) {
            return super.acquireOfFirstKey(cost);
        }

        @Operation
        @Override
        public void refundOfFirstKey(@Param(name = "cost") int cost) {
            super.refundOfFirstKey(cost);
        }

        @Operation
        @Override
        public int peekAtFirstKey() {
            return super.peekAtFirstKey();
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class CrossingCharges extends ConcurrentBackend {
        @Operation
        @Override
        public String acquire(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            return super.acquire(key, cost);
        }

        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public int peek(@Param(name = "key") int key) {
            return super.peek(key);
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:1")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class OneReceipt extends ConcurrentBackend {
        @Operation
        @Override
        public void refundReceipt() {
            super.refundReceipt();
        }

        @Operation
        @Override
        public String acquire(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            return super.acquire(key, cost);
        }

        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public int peek(@Param(name = "key") int key) {
            return super.peek(key);
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    public static class MoreKeysThanPlaces extends ConcurrentBackend {
        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public String acquireOne(@Param(name = "key") int key) {
            return super.acquireOne(key);
        }

        @Operation
        @Override
        public void reset(@Param(name = "key") int key) {
            super.reset(key);
        }

        @Operation
        @Override
        public int size() {
            return super.size();
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:1")
    public static class BlockedKeys extends ConcurrentBackend {
        @Operation
        @Override
        public String acquireOne(@Param(name = "key") int key) {
            return super.acquireOne(key);
        }

        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public int peek(@Param(name = "key") int key) {
            return super.peek(key);
        }

        @Operation
        @Override
        public void block(@Param(name = "key") int key) {
            super.block(key);
        }

        @Operation
        @Override
        public void unblock(@Param(name = "key") int key) {
            super.unblock(key);
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class AnyCalls extends ConcurrentBackend {
        @Operation
        @Override
        public String acquire(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            return super.acquire(key, cost);
        }

        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public int peek(@Param(name = "key") int key) {
            return super.peek(key);
        }

        @Operation
        @Override
        public void refundReceipt() {
            super.refundReceipt();
        }

        @Operation
        @Override
        public void refund(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            super.refund(key, cost);
        }

        @Operation
        @Override
        public void reset(@Param(name = "key") int key) {
            super.reset(key);
        }

        @Operation
        @Override
        public int size() {
            return super.size();
        }
    }
}
