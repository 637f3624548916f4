// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The charges of one request. Each call of a method pays for itself; the calls of different methods share what the request has paid under
 * one policy and key. So a request pays under a policy and key what the method with the highest total costs, and a bean that a limited
 * resource calls once pays only the difference.
 *
 * <p>A request has one slot of a key, whatever it calls. A call without a slot pays in full.
 *
 * <p>A call reserves its charges before it calls the backend, and afterwards either pays or releases them. Meanwhile, a call of another
 * method with the same policy and key waits, because its costs depend on the outcome. A call reserves all of its charges at once and
 * reserves none while it waits, so calls cannot deadlock. No monitor is held outside of this class.
 */
public final class ChargeLedger {
    private final Map<Subject, Account> accounts = new HashMap<>();

    /** Completes when reserved charges are paid or released; null if no call waits for that. */
    private @Nullable CompletableFuture<Void> change;

    /** The costs of all calls of one method under one policy and key, whether the method or another one has paid them. */
    private static final class Calls {
        private final String method;
        private long ended;
        private long reserved;

        Calls(String method) {
            this.method = method;
        }
    }

    /** What the request has paid under one policy and key. */
    private static final class Account {
        private final List<Calls> methods = new ArrayList<>(1);
        private long paid;
        private boolean holdsSlot;

        Calls of(String method) {
            for (int i = 0; i < methods.size(); i++) {
                if (methods.get(i).method.equals(method)) {
                    return methods.get(i);
                }
            }
            Calls first = new Calls(method);
            methods.add(first);
            return first;
        }

        /** Tests whether the costs of a call depend on a call that has not ended. */
        boolean isUndecided(String method, Charge charge) {
            boolean needsSlot = charge.policy().hasConcurrency() && !holdsSlot;
            for (int i = 0; i < methods.size(); i++) {
                Calls calls = methods.get(i);
                if (calls.reserved > 0 && (needsSlot || !calls.method.equals(method))) {
                    return true;
                }
            }
            return false;
        }

        /** Returns the unpaid part of a charge, null if all of it is paid. */
        @Nullable
        Charge due(Calls calls, Charge charge) {
            if (charge.policy().hasConcurrency() && !holdsSlot) {
                return charge;
            }
            long unpaid = Math.min(charge.cost(), calls.ended + calls.reserved + charge.cost() - paid);
            if (unpaid <= 0) {
                return null;
            }
            return holdsSlot || unpaid < charge.cost() ? withCost(charge, unpaid) : charge;
        }

        void pay(Charge due) {
            paid += due.cost();
            holdsSlot |= due.policy().hasConcurrency();
        }

        void refund(Charge due) {
            paid -= due.cost();
            holdsSlot &= !due.policy().hasConcurrency();
        }

        /** Returns a part of a charge, without the slot that the request has already; null if there is no other limit. */
        private static @Nullable Charge withCost(Charge charge, long cost) {
            return charge.policy()
                    .withoutConcurrency()
                    .map(limits ->
                            new Charge(limits, charge.storedKey(), cost, charge.maxWaitMicros(), charge.shadow()))
                    .orElse(null);
        }
    }

    /**
     * Reserves the charges of a call of a method. Waits for calls of other methods with the same policies and keys. Returns the charges
     * that are not paid, empty if all are; null if another call has not ended by the deadline.
     */
    @Nullable
    public List<Charge> reserve(String method, List<Charge> charges, long deadlineNanos) {
        long start = 0;
        while (true) {
            List<Charge> due = reserve(method, charges);
            if (due != null) {
                return due;
            }
            CompletableFuture<Void> next = change(method, charges);
            if (next != null) {
                long now = System.nanoTime();
                start = start == 0 ? now : start;
                if (!await(next, deadlineNanos - (now - start))) {
                    return null;
                }
            }
        }
    }

    /** Reserves as above, but returns null if the call has to wait for a {@link #change} by a call of another method. */
    @Nullable
    public synchronized List<Charge> reserve(String method, List<Charge> charges) {
        return isAnyUndecided(method, charges) ? null : reserved(method, charges);
    }

    /** Returns a future that completes when a reservation ends for which a call waits; null if the call need not wait anymore. */
    @Nullable
    public synchronized CompletableFuture<Void> change(String method, List<Charge> charges) {
        if (!isAnyUndecided(method, charges)) {
            return null;
        }
        CompletableFuture<Void> next = change == null ? new CompletableFuture<>() : change;
        change = next;
        return next;
    }

    /**
     * Waits for a change. Returns false at the deadline. Keeps the interrupt flag, because the backend determines the effect of
     * an interrupt.
     */
    private static boolean await(CompletableFuture<Void> change, long nanos) {
        long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    change.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return true;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException | ExecutionException e) {
                    return false;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Tests whether a call with a charge takes a slot. */
    public synchronized boolean needsSlot(Charge charge) {
        if (!charge.policy().hasConcurrency()) {
            return false;
        }
        Account account = accounts.get(Subject.of(charge));
        return account == null || !account.holdsSlot;
    }

    private boolean isAnyUndecided(String method, List<Charge> charges) {
        if (!accounts.isEmpty()) {
            for (Charge charge : charges) {
                Account account = accounts.get(Subject.of(charge));
                if (account != null && account.isUndecided(method, charge)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the same list if nothing is paid, which is so for most requests. */
    @SuppressWarnings("ReferenceEquality") // an unpaid charge is due as it is
    private List<Charge> reserved(String method, List<Charge> charges) {
        List<Charge> due = charges;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Account account = account(charge);
            Calls calls = account.of(method);
            Charge unpaid = account.due(calls, charge);
            calls.reserved += charge.cost();
            if (unpaid != charge && due == charges) {
                due = new ArrayList<>(charges.subList(0, i));
            }
            if (unpaid != null && due != charges) {
                due.add(unpaid);
            }
        }
        return due == charges ? charges : List.copyOf(due);
    }

    private Account account(Charge charge) {
        Subject key = Subject.of(charge);
        Account known = accounts.get(key);
        if (known != null) {
            return known;
        }
        Account first = new Account();
        accounts.put(key, first);
        return first;
    }

    /** Pays the charges of a call, of which some are due. */
    public synchronized void pay(String method, List<Charge> charges, List<Charge> due) {
        for (Charge charge : charges) {
            Calls calls = account(charge).of(method);
            calls.reserved -= charge.cost();
            calls.ended += charge.cost();
        }
        due.forEach(paid -> account(paid).pay(paid));
        changed();
    }

    /** Adds charges that another instance has made for this request. */
    synchronized void credit(List<Charge> paid) {
        paid.forEach(charge -> account(charge).pay(charge));
        changed();
    }

    /** Releases the reserved charges of a call that does not proceed. */
    public synchronized void release(String method, List<Charge> charges) {
        charges.forEach(charge -> account(charge).of(method).reserved -= charge.cost());
        changed();
    }

    private void changed() {
        if (change != null) {
            change.complete(null);
            change = null;
        }
    }

    /** Reserves charges again that the same call has paid and is about to refund. */
    public synchronized void reopen(String method, List<Charge> charges, List<Charge> due) {
        for (Charge charge : charges) {
            Calls calls = account(charge).of(method);
            calls.ended -= charge.cost();
            calls.reserved += charge.cost();
        }
        due.forEach(refunded -> account(refunded).refund(refunded));
    }

    /** Removes the charges of a call that are refunded, and of which it has paid a part, so that a later call pays them again. */
    public synchronized void refund(String method, List<Charge> charges, List<Charge> due) {
        charges.forEach(charge -> account(charge).of(method).ended -= charge.cost());
        due.forEach(refunded -> account(refunded).refund(refunded));
    }

    /** Removes the slots of a call that has returned and held them itself, so that a later call takes its own. */
    public synchronized void releaseSlots(List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.policy().hasConcurrency()) {
                account(charge).holdsSlot = false;
            }
        }
    }
}
