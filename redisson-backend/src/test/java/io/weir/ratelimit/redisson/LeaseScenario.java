// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.LeaseTable;
import io.weir.ratelimit.redisson.lease.LeasedPermits;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Random calls of several instances that share a key, with a ledger of the calls that they allow. */
final class LeaseScenario {
    private static final long MAX_MICROS = 8_000_000;
    private static final int MAX_CALLS = 3_000;
    private static final long RELOADED_WITHIN_MICROS = 4_000_000;

    private final String title;
    private final Charge model;
    private PolicyLimits inForce;
    private long steadyFromMicros;
    private final Random random;
    private final ModelTime time = new ModelTime();
    private final LeaseModelBackend backend = new LeaseModelBackend(time);
    private final List<Instance> instances = new ArrayList<>();

    private final LeaseLedger ledger;
    private final boolean losesReplies;
    private final boolean resets;
    private final boolean refunds;
    private final boolean refundsCosts;
    private final boolean reloads;
    private long leasedCalls;
    private long refunded;
    private long reloaded;
    private boolean lost;
    private boolean settled;

    LeaseScenario(String title, Charge model, int instances, Random random) {
        this.model = model;
        this.inForce = model.policy();
        this.random = random;
        boolean isOfBuckets = backend.state(limit(0)) instanceof TokenBucketState;
        this.losesReplies = random.nextInt(3) == 0;
        // A refund to a bucket that is in flight during a reset would reduce the next charges.
        this.resets = instances == 1 && !isOfBuckets && random.nextInt(3) == 0;
        this.refunds = random.nextBoolean();
        // Another instance could spend permits that a refund of a cost has removed from the state.
        this.refundsCosts = !refunds && instances == 1 && random.nextBoolean();
        this.reloads = !isOfBuckets && !resets && !refundsCosts && random.nextInt(3) == 0;
        this.title = title + " " + model + " on " + instances + (losesReplies ? " loses replies" : "")
                + (resets ? " resets" : "") + (refunds ? " refunds" : "") + (refundsCosts ? " refunds costs" : "")
                + (reloads ? " reloads" : "");
        this.ledger = new LeaseLedger(backend, this.title, model.policy());
        for (int i = 0; i < instances; i++) {
            this.instances.add(new Instance());
        }
    }

    private final class Instance implements PermitSource {
        private final long clockOffsetNanos = random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L);
        private LeaseTable leases = newTable();
        private PolicyLimits policy = model.policy();

        private LeaseTable newTable() {
            return new LeaseTable(
                    this,
                    RedisKeys.of("test"),
                    new RejectionCache(RedisKeys.of("test")),
                    this::nanoTime,
                    (nanos, task) -> time.in(nanos / 1_000, task),
                    held -> {});
        }

        private long nanoTime() {
            return time.micros() * 1_000 + clockOffsetNanos;
        }

        @Override
        public CompletableFuture<AcquireResult> acquire(Charge charge) {
            assertThat(charge.cost())
                    .as(title)
                    .isLessThanOrEqualTo(charge.policy().lease());
            CompletableFuture<AcquireResult> result = new CompletableFuture<>();
            long sent = nanoTime();
            time.in(delay(), () -> {
                AcquireResult decided = backend.decide(charge, sent);
                boolean isLost = losesReplies && random.nextInt(10) == 0;
                lost |= isLost && decided.spent();
                time.in(isLost ? 2_000_000 : delay(), () -> {
                    if (isLost) {
                        result.completeExceptionally(new CompletionException("lost", null));
                    } else {
                        result.complete(new AcquireResult(
                                decided.charges(),
                                decided.hasRoom(),
                                decided.spent(),
                                0,
                                new RedisTime(decided.time().micros(), sent, nanoTime())));
                    }
                });
            });
            return result;
        }

        @Override
        public CompletableFuture<Void> refund(Refund refund) {
            CompletableFuture<Void> refunded = new CompletableFuture<>();
            time.in(delay(), () -> {
                backend.refund(refund);
                refunded.complete(null);
            });
            return refunded;
        }

        private void call(long cost) {
            Charge charge = new Charge(policy, model.storedKey(), cost);
            LeasedPermits leased = leases.spend(charge, 0, nanoTime());
            if (leased != null) {
                leasedCalls++;
                ledger.allowed(charge);
                if (random.nextInt(50) == 0) {
                    leased.refund(nanoTime());
                    ledger.refunded(charge, leased.receiptEntry().states());
                } else {
                    mayRefund(charge, leased.receiptEntry().states());
                }
                return;
            }
            AcquireResult result = backend.decide(charge, nanoTime());
            if (result.spent()) {
                ledger.allowed(charge);
                List<LimitState> states = result.charges().get(0).states();
                long remaining = Long.MAX_VALUE;
                for (int i = 0; i < states.size(); i++) {
                    remaining = Math.min(
                            remaining, states.get(i).remaining(policy.limits().get(i), backend.now()));
                }
                leases.recordAllowed(charge, remaining, nanoTime());
                mayRefund(charge, states);
            }
        }

        private void mayRefund(Charge charge, List<LimitState> states) {
            if (!refunds || random.nextInt(20) != 0) {
                return;
            }
            BackendReceipt receipt = new BackendReceipt(List.of(new ChargeStates(charge, states)));
            int longest = random.nextInt(3) == 0 ? 1 : reloads ? 1_000_000 : 4_000_000;
            boolean twice = random.nextInt(4) == 0;
            time.in(random.nextInt(longest), () -> {
                ledger.refunded(charge, states);
                for (int times = twice ? 2 : 1; times > 0; times--) {
                    if (!leases.refund(receipt)) {
                        backend.refund(receipt);
                    }
                    refunded++;
                }
            });
        }

        /** Refunds a cost. There is no call in between, since the only caller awaits it. */
        private void refundCost() {
            Charge charge = new Charge(policy, model.storedKey(), 1 + random.nextInt(40));
            CompletableFuture<Void> closed = leases.close(charge, false);
            for (int steps = 0; !closed.isDone() && steps < 1_000; steps++) {
                time.passTo(time.micros() + 5_000);
            }
            assertThat(closed).isDone();
            ledger.refundCost(charge, instances.size() == 1 && !lost);
            refunded++;
        }

        private void reload() {
            policy = inForce;
        }

        private void reset() {
            leases.close(model, true);
            backend.reset();
            leases.close(model, true);
            ledger.beginUnder(List.of(policy));
        }

        /** Loses the leased permits, and starts anew. */
        private void crash() {
            lost = true;
            leases = newTable();
        }
    }

    private long delay() {
        return switch (random.nextInt(20)) {
            case 0 -> random.nextInt(400_000);
            case 1, 2 -> random.nextInt(20_000);
            default -> random.nextInt(500);
        };
    }

    /** Changes the limits. Each instance reloads them by itself, and earlier requests can be in flight for a while. */
    private void reload() {
        PolicyLimits old = inForce;
        double factor = 0.25 + 2 * random.nextDouble();
        List<Limit> limits =
                old.limits().stream().map(limit -> scaled(limit, factor)).toList();
        long smallest = limits.stream().mapToLong(Limit::capacity).min().orElseThrow();
        backend.touch(old);
        inForce = new PolicyLimits(old.policy(), limits).withLease(1 + random.nextLong(Math.min(smallest, 300)));
        PolicyLimits now = inForce;
        ledger.beginUnder(List.of(old, now));
        instances.forEach(instance -> time.in(random.nextInt(50_000), instance::reload));
        steadyFromMicros = time.micros() + RELOADED_WITHIN_MICROS;
        time.in(RELOADED_WITHIN_MICROS, () -> {
            backend.touch(now);
            ledger.beginUnder(List.of(now));
        });
        reloaded++;
    }

    private static Limit scaled(Limit limit, double factor) {
        return Limit.of(
                ((WindowLimit) limit).algorithm(), Math.max(20, (long) (limit.permits() * factor)), limit.window());
    }

    private Limit limit(int index) {
        return model.policy().limits().get(index);
    }

    long leasedCalls() {
        return leasedCalls;
    }

    /** Returns the number of refunds, by receipt and by cost. */
    long refunded() {
        return refunded;
    }

    long reloaded() {
        return reloaded;
    }

    /** Returns whether a window was checked after all permits had been refunded. */
    boolean isSettled() {
        return settled;
    }

    void run() {
        long interval = 1 + random.nextInt(random.nextBoolean() ? 200 : 5_000);
        long cost = 1 + random.nextInt(3) / 2;
        for (int call = 0; call < MAX_CALLS && time.micros() < MAX_MICROS; call++) {
            boolean pauses = random.nextInt(500) == 0;
            time.passTo(time.micros() + (pauses ? random.nextInt(2_000_000) : random.nextLong(2 * interval)));
            Instance instance = instances.get(random.nextInt(instances.size()));
            int action = random.nextInt(1_000);
            if (action == 0 && resets) {
                instance.reset();
            } else if (action == 1 && losesReplies) {
                instance.crash();
            } else if (action < 4 && refundsCosts) {
                instance.refundCost();
            } else if (action == 5 && reloads && time.micros() >= steadyFromMicros) {
                reload();
            } else {
                instance.call(random.nextInt(10) == 0 ? 1 + random.nextInt(5) : cost);
            }
        }
        settle();
    }

    /** Checks after the last call that a window is charged exactly with the calls that it allowed. */
    private void settle() {
        if (lost || resets || reloads) {
            return;
        }
        time.passTo(time.micros() + 8_000_000);
        for (int i = 0; i < model.policy().limits().size(); i++) {
            settled |= ledger.isSettled(limit(i));
        }
    }
}
