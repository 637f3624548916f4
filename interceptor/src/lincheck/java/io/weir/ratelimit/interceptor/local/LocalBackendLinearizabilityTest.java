// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

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
 * What callers at the same time are told by the store in process must be what it would have told them one after the other, in
 * an order that keeps that of each caller. Each test names an outcome that this forbids and plays the operations that could
 * bring it about; a caller that waits for ever fails each of them.
 *
 * <p>Lincheck makes up the calls and searches their interleavings one by one, or lets threads loose on them. What it finds it
 * reports with the calls and their interleaving.
 */
class LocalBackendLinearizabilityTest {

    /** Between two of their steps nothing can happen that another caller sees. */
    private static final String[] IMMUTABLE = {
        "io.weir.ratelimit.Quota",
        "io.weir.ratelimit.spi.Charge",
        "io.weir.ratelimit.spi.Limit",
        "io.weir.ratelimit.spi.PolicyLimits",
        "io.weir.ratelimit.spi.TokenBucketState"
    };

    enum Search {
        INTERLEAVINGS {
            @Override
            Options<?, ?> options() {
                // Who finds the store full looks at each of its 64 shards: that loop is no livelock.
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
            options()
                    .threads(2)
                    .actorsPerThread(2)
                    .actorsBefore(1)
                    .actorsAfter(1)
                    .sequentialSpecification(SequentialStore.class)
                    .check(operations);
        }
    }

    @ParameterizedTest
    @EnumSource
    void neverAdmitsMoreThanTheLimit(Search search) {
        search.check(OneKey.class);
    }

    @ParameterizedTest
    @EnumSource
    void neverSpendsAChargeInPartAndNeverDeadlocksOnCrossingCharges(Search search) {
        search.check(CrossingCharges.class);
    }

    @ParameterizedTest
    @EnumSource
    void neverCountsAReceiptTwiceOrInPart(Search search) {
        search.check(OneReceipt.class);
    }

    @ParameterizedTest
    @EnumSource
    void neverHoldsMoreKeysThanItsBound(Search search) {
        search.check(MoreKeysThanPlaces.class);
    }

    @ParameterizedTest
    @EnumSource
    void anyCallsTogetherAreAsOneAfterTheOther(Search search) {
        search.check(AnyCalls.class);
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:0")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class OneKey extends ConcurrentStore {
        @Operation
        @Override
        public String acquire(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            return super.acquire(key, cost);
        }

        @Operation
        @Override
        public void refund(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            super.refund(key, cost);
        }

        @Operation
        @Override
        public int peek(@Param(name = "key") int key) {
            return super.peek(key);
        }
    }

    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class CrossingCharges extends ConcurrentStore {
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
    public static class OneReceipt extends ConcurrentStore {
        @Operation
        @Override
        public void giveBackReceipt() {
            super.giveBackReceipt();
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
    @Param(name = "cost", gen = IntGen.class, conf = "1:1")
    public static class MoreKeysThanPlaces extends ConcurrentStore {
        @Operation
        @Override
        public String acquireBoth(@Param(name = "key") int key) {
            return super.acquireBoth(key);
        }

        @Operation
        @Override
        public String acquire(@Param(name = "key") int key, @Param(name = "cost") int cost) {
            return super.acquire(key, cost);
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

    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    @Param(name = "cost", gen = IntGen.class, conf = "1:2")
    public static class AnyCalls extends ConcurrentStore {
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
        public void giveBackReceipt() {
            super.giveBackReceipt();
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
