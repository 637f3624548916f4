// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The charges of one request. A request pays once for each policy and key; a call with a higher cost pays the difference.
 *
 * <p>A call reserves its charges before it calls the backend, and afterwards either pays or releases them. Meanwhile, another
 * call of the request with the same policy and key waits, so two calls never pay the same charge. A call reserves all of its
 * charges at once and reserves none while it waits, so calls cannot deadlock. No monitor is held outside of this class.
 */
final class ChargeLedger {
    private List<Charge> paid = List.of();
    private List<Charge> reserved = List.of();

    /** The last binding with all of its charges paid. */
    private @Nullable Binding covered;

    /** Completes when reserved charges are paid or released; null if no call waits for that. */
    private @Nullable CompletableFuture<Void> change;

    /** Returns whether all charges of a method are paid, so that its second entry point has nothing to resolve. */
    @SuppressWarnings("ReferenceEquality") // there is one binding per method
    synchronized boolean covers(Binding binding) {
        return binding == covered;
    }

    /**
     * Reserves the part of the charges that is not paid. Waits for other calls with the same policies and keys.
     *
     * @return the reserved charges, empty if all are paid; null if another call has not ended by the deadline
     */
    @Nullable
    List<Charge> reserve(List<Charge> charges, long deadlineNanos) {
        long start = 0;
        while (true) {
            CompletableFuture<Void> next;
            synchronized (this) {
                if (!isAnyReserved(charges)) {
                    List<Charge> due = due(charges);
                    reserved = plus(reserved, due);
                    return due;
                }
                next = change == null ? new CompletableFuture<>() : change;
                change = next;
            }
            long now = System.nanoTime();
            start = start == 0 ? now : start;
            if (!await(next, deadlineNanos - (now - start))) {
                return null;
            }
        }
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

    private boolean isAnyReserved(List<Charge> charges) {
        if (!reserved.isEmpty()) {
            for (Charge charge : charges) {
                for (Charge other : reserved) {
                    if (isSameKey(charge, other)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private List<Charge> due(List<Charge> charges) {
        if (paid.isEmpty()) {
            return charges;
        }
        List<Charge> due = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            long cost = charge.cost();
            for (Charge before : paid) {
                cost -= isSameKey(charge, before) ? before.cost() : 0;
            }
            if (cost > 0) {
                Charge rest = cost == charge.cost() ? charge : withCost(charge, cost);
                if (rest != null) {
                    due.add(rest);
                }
            }
        }
        return List.copyOf(due);
    }

    /**
     * Returns the rest of a charge of which the request has paid a part. It has its slot already. Returns null if there is no other limit.
     */
    private static @Nullable Charge withCost(Charge charge, long cost) {
        return charge.policy()
                .withoutConcurrency()
                .map(limits -> new Charge(limits, charge.storedKey(), cost, charge.maxWaitMicros(), charge.shadow()))
                .orElse(null);
    }

    /** Pays reserved charges. */
    synchronized void pay(Binding binding, List<Charge> charges) {
        unreserve(charges);
        paid = plus(paid, charges);
        covered = binding.needsArguments() ? covered : binding;
    }

    /** Releases reserved charges that the call does not pay. */
    synchronized void release(List<Charge> charges) {
        unreserve(charges);
    }

    private void unreserve(List<Charge> charges) {
        reserved = minus(reserved, charges);
        if (change != null) {
            change.complete(null);
            change = null;
        }
    }

    /** Reserves charges again that the same call has paid and is about to refund. */
    @SuppressWarnings("ReferenceEquality") // there is one binding per method
    synchronized void reopen(Binding binding, List<Charge> charges) {
        paid = minus(paid, charges);
        reserved = plus(reserved, charges);
        covered = covered == binding ? null : covered;
    }

    /** Removes refunded charges, so that a later call of the request pays them again. */
    synchronized void refund(List<Charge> charges) {
        if (!charges.isEmpty()) {
            paid = minus(paid, charges);
            covered = null;
        }
    }

    private static List<Charge> plus(List<Charge> charges, List<Charge> more) {
        if (charges.isEmpty() || more.isEmpty()) {
            return charges.isEmpty() ? more : charges;
        }
        List<Charge> all = new ArrayList<>(charges.size() + more.size());
        all.addAll(charges);
        all.addAll(more);
        return all;
    }

    private static List<Charge> minus(List<Charge> charges, List<Charge> fewer) {
        List<Charge> rest = new ArrayList<>(charges);
        for (Charge charge : fewer) {
            for (int i = 0; i < rest.size(); i++) {
                if (isSameKey(rest.get(i), charge) && rest.get(i).cost() == charge.cost()) {
                    rest.remove(i);
                    break;
                }
            }
        }
        return rest.isEmpty() ? List.of() : rest;
    }

    private static boolean isSameKey(Charge one, Charge other) {
        return one.policy().policy().equals(other.policy().policy())
                && one.storedKey().equals(other.storedKey());
    }
}
