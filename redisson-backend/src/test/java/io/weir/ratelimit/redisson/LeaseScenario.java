// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TokenBucketState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Instances that share a key, with a book of what they admit. */
final class LeaseScenario {
    private static final long LONGEST_MICROS = 8_000_000;
    private static final int MOST_CALLS = 3_000;
    private static final long RELOADED_WITHIN_MICROS = 4_000_000;

    private final String title;
    private final Charge model;
    private PolicyLimits inForce;
    private long steadyFromMicros;
    private final Random random;
    private final ModelTime time = new ModelTime();
    private final LeaseModelStore store = new LeaseModelStore(time);
    private final List<Instance> instances = new ArrayList<>();

    private final LeaseBook book;
    private final boolean loses;
    private final boolean resets;
    private final boolean refunds;
    private final boolean refundsCosts;
    private final boolean reloads;
    private long spentAhead;
    private long refunded;
    private long reloaded;
    private boolean lost;
    private boolean settled;

    LeaseScenario(String title, Charge model, int instances, Random random) {
        this.model = model;
        this.inForce = model.policy();
        this.random = random;
        boolean isOfBuckets = store.state(limit(0)) instanceof TokenBucketState;
        this.loses = random.nextInt(3) == 0;
        // What is on its way back to a bucket when that is dropped is taken from what is charged next.
        this.resets = instances == 1 && !isOfBuckets && random.nextInt(3) == 0;
        this.refunds = random.nextBoolean();
        // What another instance holds can be given back by it, and is spent all the same.
        this.refundsCosts = !refunds && instances == 1 && random.nextBoolean();
        this.reloads = !isOfBuckets && !resets && !refundsCosts && random.nextInt(3) == 0;
        this.title = title + " " + model + " on " + instances + (loses ? " loses" : "") + (resets ? " resets" : "")
                + (refunds ? " refunds" : "") + (refundsCosts ? " refunds costs" : "") + (reloads ? " reloads" : "");
        this.book = new LeaseBook(store, this.title, model.policy());
        for (int i = 0; i < instances; i++) {
            this.instances.add(new Instance());
        }
    }

    private final class Instance implements Lease.Store {
        private final long aheadNanos = random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L);
        private Leases leases = made();
        private PolicyLimits policy = model.policy();

        private Leases made() {
            return new Leases(
                    this,
                    StoredKeys.of("test"),
                    new Restraint(StoredKeys.of("test")),
                    this::nanoTime,
                    (nanos, task) -> time.in(nanos / 1_000, task),
                    held -> {});
        }

        private long nanoTime() {
            return time.micros() * 1_000 + aheadNanos;
        }

        @Override
        public CompletableFuture<Answer> takeAhead(Charge charge) {
            assertThat(charge.cost())
                    .as(title)
                    .isLessThanOrEqualTo(charge.policy().lease());
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            long sent = nanoTime();
            time.in(delay(), () -> {
                Answer decided = store.decide(charge, sent);
                boolean isLost = loses && random.nextInt(10) == 0;
                lost |= isLost && decided.spent();
                time.in(isLost ? 2_000_000 : delay(), () -> {
                    if (isLost) {
                        answer.completeExceptionally(new CompletionException("lost", null));
                    } else {
                        answer.complete(new Answer(
                                decided.states(),
                                decided.room(),
                                decided.spent(),
                                0,
                                decided.nowMicros(),
                                sent,
                                nanoTime()));
                    }
                });
            });
            return answer;
        }

        @Override
        public CompletableFuture<Void> giveBack(GiveBack what) {
            CompletableFuture<Void> given = new CompletableFuture<>();
            time.in(delay(), () -> {
                store.giveBack(what);
                given.complete(null);
            });
            return given;
        }

        private void call(long cost) {
            Charge charge = new Charge(policy, model.identity(), cost);
            Lease.Taken taken = leases.take(charge, false, nanoTime());
            if (taken != null) {
                spentAhead++;
                book.admitted(charge);
                if (random.nextInt(50) == 0) {
                    taken.putBack(nanoTime());
                    book.givenBack(charge, taken.entry().states());
                } else {
                    mayRefund(charge, taken.entry().states());
                }
                return;
            }
            Answer answer = store.decide(charge, nanoTime());
            if (answer.spent()) {
                book.admitted(charge);
                long least = Long.MAX_VALUE;
                for (int i = 0; i < answer.states().size(); i++) {
                    Limit limit = policy.limits().get(i);
                    least = Math.min(least, answer.states().get(i).remaining(limit, store.now()));
                }
                leases.admitted(charge, least, nanoTime());
                mayRefund(charge, answer.states());
            }
        }

        private void mayRefund(Charge charge, List<LimitState> states) {
            if (!refunds || random.nextInt(20) != 0) {
                return;
            }
            BackendReceipt receipt = new BackendReceipt(List.of(charge), states);
            int longest = random.nextInt(3) == 0 ? 1 : reloads ? 1_000_000 : 4_000_000;
            boolean twice = random.nextInt(4) == 0;
            time.in(random.nextInt(longest), () -> {
                book.givenBack(charge, states);
                for (int times = twice ? 2 : 1; times > 0; times--) {
                    if (!leases.takeBack(receipt)) {
                        store.giveBack(receipt);
                    }
                    refunded++;
                }
            });
        }

        /** Nobody calls in between: who waits for it is the only caller. */
        private void refundCost() {
            Charge charge = new Charge(policy, model.identity(), 1 + random.nextInt(40));
            CompletableFuture<Void> ended = leases.end(charge, false);
            for (int waits = 0; !ended.isDone() && waits < 1_000; waits++) {
                time.passTo(time.micros() + 5_000);
            }
            assertThat(ended).isDone();
            book.giveBackCost(charge, instances.size() == 1 && !lost);
            refunded++;
        }

        private void reload() {
            policy = inForce;
        }

        private void reset() {
            leases.end(model, true);
            store.reset();
            leases.end(model, true);
            book.beginUnder(List.of(policy));
        }

        /** Its permits are gone with it; another comes in its place. */
        private void crash() {
            lost = true;
            leases = made();
        }
    }

    private long delay() {
        return switch (random.nextInt(20)) {
            case 0 -> random.nextInt(400_000);
            case 1, 2 -> random.nextInt(20_000);
            default -> random.nextInt(500);
        };
    }

    /** Each instance learns it for itself; what was asked for before can still be on its way for a while. */
    private void reload() {
        PolicyLimits old = inForce;
        double factor = 0.25 + 2 * random.nextDouble();
        List<Limit> limits =
                old.limits().stream().map(limit -> scaled(limit, factor)).toList();
        long smallest = limits.stream().mapToLong(Limit::capacity).min().orElseThrow();
        store.touch(old);
        inForce = new PolicyLimits(old.policy(), limits).withLease(1 + random.nextLong(Math.min(smallest, 300)));
        PolicyLimits now = inForce;
        book.beginUnder(List.of(old, now));
        instances.forEach(instance -> time.in(random.nextInt(50_000), instance::reload));
        steadyFromMicros = time.micros() + RELOADED_WITHIN_MICROS;
        time.in(RELOADED_WITHIN_MICROS, () -> {
            store.touch(now);
            book.beginUnder(List.of(now));
        });
        reloaded++;
    }

    private static Limit scaled(Limit limit, double factor) {
        return Limit.of(limit.algorithm(), Math.max(20, (long) (limit.permits() * factor)), limit.window());
    }

    private Limit limit(int index) {
        return model.policy().limits().get(index);
    }

    long spentAhead() {
        return spentAhead;
    }

    /** Give-backs, by receipt and by cost. */
    long refunded() {
        return refunded;
    }

    long reloaded() {
        return reloaded;
    }

    /** Whether all was given back in the end, and seen to be. */
    boolean isSettled() {
        return settled;
    }

    void run() {
        long pause = 1 + random.nextInt(random.nextBoolean() ? 200 : 5_000);
        long cost = 1 + random.nextInt(3) / 2;
        for (int call = 0; call < MOST_CALLS && time.micros() < LONGEST_MICROS; call++) {
            boolean rests = random.nextInt(500) == 0;
            time.passTo(time.micros() + (rests ? random.nextInt(2_000_000) : random.nextLong(2 * pause)));
            Instance instance = instances.get(random.nextInt(instances.size()));
            int what = random.nextInt(1_000);
            if (what == 0 && resets) {
                instance.reset();
            } else if (what == 1 && loses) {
                instance.crash();
            } else if (what < 4 && refundsCosts) {
                instance.refundCost();
            } else if (what == 5 && reloads && time.micros() >= steadyFromMicros) {
                reload();
            } else {
                instance.call(random.nextInt(10) == 0 ? 1 + random.nextInt(5) : cost);
            }
        }
        settle();
    }

    /** When nobody calls any more, a window is charged exactly what was admitted in it. */
    private void settle() {
        if (lost || resets || reloads) {
            return;
        }
        time.passTo(time.micros() + 8_000_000);
        for (int i = 0; i < model.policy().limits().size(); i++) {
            settled |= book.isSettled(limit(i));
        }
    }
}
