// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one busy key that this instance has taken ahead: a grant that is being spent, one behind it as soon as half is gone,
 * and the request for it. Permits are spent without a lock; it is held only where one grant takes the place of another.
 */
final class Lease {
    /** Whoever asks for no more than this part of what is left leaves as much to each of as many instances. */
    private static final int LEFT_TO_OTHERS = 8;

    /** Under overload permits have gathered, and nobody else gets far with what is left of them. */
    private static final int LEFT_UNDER_OVERLOAD = 2;

    /** When so small a part of the lease is left, more is asked for: early enough for a busy key, and enough to be worth a request. */
    private static final int ASKS_BELOW = 4;

    /** An answer of Redis takes no longer when all is well; of one that is slow, nobody waits here. */
    private static final long SOON_NANOS = TimeUnit.MICROSECONDS.toNanos(2_000);

    /** Fewer calls than this are not worth a request: the last permits are charged call by call, and so shared exactly. */
    private static final int LEAST_CALLS = 4;

    private static final long SHORT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** What it needs of the store. */
    interface Store {
        /** Charges permits ahead. Completed once it is known what became of it, however late; never with an answer that is lost. */
        CompletionStage<Answer> takeAhead(Charge charge);

        /** Gives permits back that were not spent. */
        CompletableFuture<Void> giveBack(GiveBack what);
    }

    /** Permits for one call. */
    final class Taken {
        private final Grant from;
        private final Charge charge;
        private final long left;

        private Taken(Grant from, Charge charge, long left) {
            this.from = from;
            this.charge = charge;
            this.left = left;
        }

        /** The charge, as if it had been made by itself. */
        BackendReceipt.Entry entry() {
            return new BackendReceipt.Entry(charge, from.statesOfReceipt(left));
        }

        /** See {@link Grant#addQuotas}; the grant that came last knows most. */
        void addQuotas(long nowNanos, List<Quota> into) {
            Grant last = next;
            Grant latest = last == null ? current : last;
            (latest == null ? from : latest).addQuotas(charge, unspent(), nowNanos, into);
        }

        /** Gives them back: they were taken for nothing. */
        void putBack(long nowNanos) {
            if (!Lease.this.putBack(from, charge.cost(), nowNanos)) {
                CompletableFuture<Void> unused = store.giveBack(GiveBack.ofReceipt(charge, from.statesOfReceipt(left)));
            }
        }
    }

    private final Store store;
    private final LongSupplier nanoTime;
    private final PolicyLimits policy;
    private final String identity;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile @Nullable Grant current;
    private volatile @Nullable Grant next;

    /** What Redis has left, as it said last. */
    private volatile long room;

    private volatile int leftToOthers = LEFT_TO_OTHERS;

    private volatile long notBeforeNanos;
    private volatile long askedNanos;
    private volatile CompletableFuture<Void> inTheAir = CompletableFuture.completedFuture(null);

    /** Permits that are being asked for, whether the lease has ended, and with the key's state at that. Guarded by this. */
    private long asked;

    private boolean closed;
    private boolean dropped;

    /** What is on its way back, also of grants that are gone. Guarded by this. */
    private CompletableFuture<Void> goingBack = CompletableFuture.completedFuture(null);

    private long lastMark;
    private int idleLooks;

    Lease(Store store, LongSupplier nanoTime, Charge of) {
        this.store = store;
        this.nanoTime = nanoTime;
        this.policy = of.policy();
        this.identity = of.identity();
        this.notBeforeNanos = nanoTime.getAsLong();
    }

    /** Whether it is of these limits: a lease of others is not spent. */
    boolean isOf(PolicyLimits limits) {
        return policy.equals(limits);
    }

    /** Takes permits for a call, and sees to it that there are some for the next; null if there are too few. */
    @Nullable
    Taken take(Charge charge, long nowNanos) {
        for (Grant first = current; first != null; first = current) {
            long left = first.take(charge.cost(), nowNanos);
            if (left >= 0) {
                if (left <= policy.lease() / ASKS_BELOW) {
                    ask(charge.cost(), nowNanos);
                }
                return new Taken(first, charge, left);
            }
            if (next == null && !first.isOver(nowNanos)) {
                return null;
            }
            retire(first, nowNanos);
        }
        return null;
    }

    /**
     * As {@link #take}, but permits that are on their way are waited for, for a moment. A caller who went to Redis instead would sleep
     * and be woken, at a multiple of what a decision costs here.
     */
    @SuppressWarnings("ThreadPriorityCheck") // nothing depends on it but how soon
    @Nullable
    Taken takeSoon(Charge charge, long nowNanos) {
        Taken taken = take(charge, nowNanos);
        while (taken == null && asking.get() && nanoTime.getAsLong() - askedNanos < SOON_NANOS) {
            Thread.yield();
            taken = take(charge, nanoTime.getAsLong());
        }
        return taken;
    }

    /** The grant behind takes the place of one that is of no more use. */
    private void retire(Grant grant, long nowNanos) {
        synchronized (this) {
            if (current != grant) {
                return;
            }
            current = next;
            next = null;
        }
        CompletableFuture<Void> unused = giveBack(grant, nowNanos);
    }

    private CompletableFuture<Void> giveBack(Grant grant, long nowNanos) {
        CompletableFuture<Void> given = CompletableFuture.allOf(
                grant.close(nowNanos).stream().map(store::giveBack).toArray(CompletableFuture<?>[]::new));
        synchronized (this) {
            goingBack = goingBack.isDone() ? given : CompletableFuture.allOf(goingBack, given);
        }
        return given;
    }

    /** Hears that a call was admitted by Redis. */
    void admitted(long cost, long remaining, boolean overloaded, long nowNanos) {
        room = remaining;
        leftToOthers = overloaded ? LEFT_UNDER_OVERLOAD : LEFT_TO_OTHERS;
        ask(cost, nowNanos);
    }

    private void ask(long cost, long nowNanos) {
        if (next != null || nowNanos - notBeforeNanos < 0 || asking.get() || !asking.compareAndSet(false, true)) {
            return;
        }
        long permits;
        synchronized (this) {
            permits = closed || next != null ? 0 : worthAsking(cost, nowNanos);
            asked = permits;
        }
        if (permits == 0) {
            notBeforeNanos = nowNanos + SHORT_PAUSE_NANOS;
            asking.set(false);
            return;
        }
        Charge charge = new Charge(policy, identity, permits);
        askedNanos = nowNanos;
        inTheAir = takenAhead(charge)
                .handle((answer, failure) -> answer)
                .thenCompose(answer -> answered(charge, answer))
                .toCompletableFuture();
    }

    private CompletionStage<Answer> takenAhead(Charge charge) {
        try {
            return store.takeAhead(charge);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Whole calls of a cost, 0 if they are too few. */
    private long worthAsking(long cost, long nowNanos) {
        Grant last = current;
        long known = last == null ? room : Math.min(room, last.room(nowNanos));
        long permits = Math.min(policy.lease() - unspent(), known / leftToOthers);
        return permits / LEAST_CALLS < cost ? 0 : permits / cost * cost;
    }

    private CompletableFuture<Void> answered(Charge charge, @Nullable Answer answer) {
        long now = nanoTime.getAsLong();
        if (answer == null || !answer.spent()) {
            pause(now);
            return CompletableFuture.completedFuture(null);
        }
        Grant grant = new Grant(charge, answer);
        boolean givenBack;
        synchronized (this) {
            asked = 0;
            givenBack = closed ? !dropped : grant.isOver(now);
            if (!closed && !givenBack) {
                next = current == null ? null : grant;
                current = current == null ? grant : current;
            }
        }
        if (givenBack) {
            pause(now);
            return giveBack(grant, now);
        }
        room = grant.room(now);
        asking.set(false);
        return CompletableFuture.completedFuture(null);
    }

    private void pause(long nowNanos) {
        synchronized (this) {
            asked = 0;
        }
        notBeforeNanos = nowNanos + PAUSE_NANOS;
        asking.set(false);
    }

    /** Whether permits can be taken in, as far as their number goes. */
    synchronized boolean hasPlaceFor(long cost) {
        return current != null && unspent() + asked + cost <= policy.lease();
    }

    /** Takes permits in that were charged to the same windows; false if there is no place for them. */
    boolean takeBack(BackendReceipt.Entry entry, long nowNanos) {
        Grant into = current;
        return into != null
                && into.isChargedWith(entry.states())
                && putBack(into, entry.charge().cost(), nowNanos);
    }

    private synchronized boolean putBack(Grant into, long cost, long nowNanos) {
        return hasPlaceFor(cost) && into.putBack(cost, nowNanos);
    }

    /** Permits that are here. */
    long unspent() {
        Grant first = current;
        Grant second = next;
        return (first == null ? 0 : first.unspent()) + (second == null ? 0 : second.unspent());
    }

    /**
     * Looks after what nobody has asked for lately.
     *
     * @param idle after how many looks without a call between them all of it is given back
     * @return null while the lease lasts; once, when it has ended, what completes when all of it is given back
     */
    @Nullable
    CompletableFuture<Void> look(int idle, long nowNanos) {
        Grant first = current;
        if (first != null && first.isOver(nowNanos)) {
            retire(first, nowNanos);
        }
        Grant now = current;
        long mark = now == null ? 0 : now.mark();
        idleLooks = mark == lastMark ? idleLooks + 1 : 0;
        lastMark = mark;
        // Who holds this flag for good keeps everybody else from asking.
        return idleLooks < idle || !asking.compareAndSet(false, true) ? null : close(false, nowNanos);
    }

    /**
     * Ends the lease: nothing of it is spent any more.
     *
     * @param drops whether the key's state is dropped, with all that was charged to it; else the permits go back
     * @return completed when those that are here, or come yet, are given back
     */
    CompletableFuture<Void> close(boolean drops, long nowNanos) {
        List<Grant> grants = new ArrayList<>(2);
        synchronized (this) {
            closed = true;
            dropped |= drops;
            if (current != null) {
                grants.add(current);
            }
            if (next != null) {
                grants.add(next);
            }
            current = null;
            next = null;
        }
        for (Grant grant : grants) {
            if (drops) {
                grant.close(nowNanos);
            } else {
                CompletableFuture<Void> unused = giveBack(grant, nowNanos);
            }
        }
        synchronized (this) {
            return CompletableFuture.allOf(inTheAir, goingBack);
        }
    }
}
