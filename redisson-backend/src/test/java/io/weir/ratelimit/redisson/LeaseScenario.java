// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Instances that share a key, with a book of what they admit. A window must have been charged what is admitted in it; a bucket that is
 * charged at the very instants at which calls are admitted must always have had room.
 */
final class LeaseScenario {
    private static final long LONGEST_MICROS = 8_000_000;
    private static final int MOST_CALLS = 3_000;

    private final String title;
    private final Charge model;
    private final Random random;
    private final ModelTime time = new ModelTime();
    private final LeaseModelStore store = new LeaseModelStore(time);
    private final List<Instance> instances = new ArrayList<>();

    /** What was admitted by limit and start of the window. */
    private final Map<Limit, Map<Long, Long>> windows = new HashMap<>();

    private final Map<Limit, LimitState> buckets = new HashMap<>();
    private final boolean loses;
    private final boolean resets;
    private final boolean refunds;
    private long spentAhead;
    private boolean lost;
    private boolean settled;

    LeaseScenario(String title, Charge model, int instances, Random random) {
        this.model = model;
        this.random = random;
        boolean isOfBuckets = store.state(limit(0)) instanceof TokenBucketState;
        this.loses = random.nextInt(3) == 0;
        // What is on its way back to a bucket when that is dropped is taken from what is charged next.
        this.resets = instances == 1 && !isOfBuckets && random.nextInt(3) == 0;
        this.refunds = !isOfBuckets && random.nextBoolean();
        this.title = title + " " + model + " on " + instances + (loses ? " loses" : "") + (resets ? " resets" : "");
        for (int i = 0; i < instances; i++) {
            this.instances.add(new Instance());
        }
        model.policy().limits().forEach(limit -> windows.put(limit, new HashMap<>()));
    }

    private final class Instance implements Lease.Store {
        private final long aheadNanos = random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L);
        private Leases leases = made();

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
                    .isLessThanOrEqualTo(model.policy().lease());
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
            Charge charge = new Charge(model.policy(), model.identity(), cost);
            Lease.Taken taken = leases.take(charge, false, nanoTime());
            if (taken != null) {
                spentAhead++;
                admitted(charge);
                if (random.nextInt(50) == 0) {
                    taken.putBack(nanoTime());
                    refunded(charge, taken.entry().states());
                } else if (refunds && random.nextInt(20) == 0) {
                    refundLater(BackendReceipt.of(List.of(taken.entry())));
                }
                return;
            }
            Answer answer = store.decide(charge, nanoTime());
            if (answer.spent()) {
                admitted(charge);
                long least = Long.MAX_VALUE;
                for (int i = 0; i < answer.states().size(); i++) {
                    least = Math.min(least, answer.states().get(i).remaining(limit(i), store.now()));
                }
                leases.admitted(charge, least, nanoTime());
                if (refunds && random.nextInt(20) == 0) {
                    refundLater(new BackendReceipt(List.of(charge), answer.states()));
                }
            }
        }

        private void refundLater(BackendReceipt receipt) {
            time.in(random.nextInt(1_000_000), () -> {
                BackendReceipt.Entry entry = receipt.use().get(0);
                BackendReceipt again = BackendReceipt.of(List.of(entry));
                if (!leases.takeBack(again)) {
                    store.giveBack(again);
                }
                refunded(entry.charge(), entry.states());
            });
        }

        private void reset() {
            leases.end(model, true);
            store.reset();
            leases.end(model, true);
            windows.values().forEach(Map::clear);
            buckets.clear();
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

    private Limit limit(int index) {
        return model.policy().limits().get(index);
    }

    long spentAhead() {
        return spentAhead;
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
            } else {
                instance.call(random.nextInt(10) == 0 ? 1 + random.nextInt(5) : cost);
            }
        }
        settle();
    }

    /** When nobody calls any more, a window is charged exactly what was admitted in it. */
    private void settle() {
        if (lost || resets) {
            return;
        }
        time.passTo(time.micros() + 5_000_000);
        for (int i = 0; i < model.policy().limits().size(); i++) {
            Limit limit = limit(i);
            LimitState state = store.state(limit);
            if (state instanceof FixedWindowState window && window.spent() > 0) {
                settled = true;
                assertThat(window.spent()).as(title).isEqualTo(admitted(limit, window.startMicros()));
            } else if (state instanceof SlidingWindowState window && window.current() > 0) {
                settled = true;
                assertThat(window.current()).as(title).isEqualTo(admitted(limit, window.startMicros()));
            }
        }
    }

    private long admitted(Limit limit, long start) {
        return windows.get(limit).getOrDefault(start, 0L);
    }

    private void admitted(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            LimitState state = store.state(limit);
            if (state instanceof TokenBucketState) {
                spendAtOnce(limit, charge.cost());
            } else {
                long start = start(state);
                windows.get(limit).merge(start, charge.cost(), Long::sum);
                check(limit, state);
            }
        }
    }

    private void check(Limit limit, LimitState state) {
        if (state instanceof SlidingWindowState window) {
            assertThat(admitted(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.current());
            assertThat(admitted(limit, window.startMicros() - limit.windowMicros()))
                    .as(title)
                    .isLessThanOrEqualTo(window.previous());
        } else if (state instanceof FixedWindowState window) {
            assertThat(admitted(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.spent());
        }
    }

    /** Both buckets count in whole units of time, so that they may differ by what returns in one. */
    private void spendAtOnce(Limit limit, long cost) {
        TokenBucketState before =
                (TokenBucketState) buckets.getOrDefault(limit, LimitState.untouched(limit, store.now()))
                        .at(limit, store.now());
        TokenBucketState after = before.spend(limit, cost, store.now());
        assertThat(after.debt())
                .as(title + " under " + limit)
                .isLessThanOrEqualTo(limit.capacity() * limit.windowUnits() + limit.permits());
        buckets.put(limit, after);
    }

    private void refunded(Charge charge, List<LimitState> states) {
        for (int i = 0; i < states.size(); i++) {
            Limit limit = charge.policy().limits().get(i);
            if (states.get(i) instanceof TokenBucketState) {
                TokenBucketState bucket = (TokenBucketState) buckets.get(limit);
                buckets.put(limit, bucket.giveBack(limit, charge.cost()));
            } else {
                windows.get(limit).computeIfPresent(start(states.get(i)), (start, all) -> all - charge.cost());
            }
        }
    }

    private static long start(LimitState window) {
        return window instanceof SlidingWindowState sliding
                ? sliding.startMicros()
                : ((FixedWindowState) window).startMicros();
    }
}
