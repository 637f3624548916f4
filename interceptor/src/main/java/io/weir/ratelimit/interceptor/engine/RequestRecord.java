// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is known and decided about one request, on its way from one entry point to the other: who calls, which decision still
 * waits for the method's arguments, what was charged, and what the response must say.
 *
 * <p>Safe for use by several threads, since a resource may call limited beans in parallel.
 */
public final class RequestRecord {
    /** Longer than a request that would wait again and again; a request that lasts is not kept from a store that is back. */
    private static final long UNANSWERED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private CallContext call;
    private final List<Charge> charged = new ArrayList<>(0);
    private final List<Quota> quotas = new ArrayList<>(0);
    private final List<Receipt> receipts = new ArrayList<>(0);
    private final List<Consumer<Boolean>> unsettled = new ArrayList<>(0);
    private @Nullable Decision last;
    private String lastEndpoint = "";
    private List<Charge> lastCharges = List.of();
    private @Nullable Binding pending;
    private @Nullable Binding admitted;
    private @Nullable Binding handledOwn;
    private @Nullable Binding handled;
    private final List<Binding> passed = new ArrayList<>(0);
    private @Nullable BackendException unanswered;
    private long unansweredNanos;
    private boolean askedForBypass;
    private boolean exempt;
    private boolean hidesQuotas;

    /**
     * A request of which nothing is decided.
     *
     * @param call who calls
     */
    public RequestRecord(CallContext call) {
        this.call = call;
    }

    /**
     * Who calls.
     *
     * @return what is known about the request
     */
    public synchronized CallContext call() {
        return call;
    }

    /**
     * Replaces who calls by what a later entry point knows better, such as the user whom a resource's filters have authenticated.
     *
     * @param caller what is known about the request
     */
    public synchronized void calledBy(CallContext caller) {
        call = caller;
        askedForBypass = exempt;
    }

    /**
     * Whether no limit holds for this request, which is found out once for what is known about the caller.
     *
     * @param bypass says it of a caller
     * @return true if it is let past
     */
    public synchronized boolean isExempt(Predicate<CallContext> bypass) {
        if (!askedForBypass) {
            askedForBypass = true;
            exempt = bypass.test(call);
        }
        return exempt;
    }

    /**
     * Leaves a decision to the entry point that knows the arguments.
     *
     * @param binding the policies to decide about
     */
    public synchronized void leave(Binding binding) {
        pending = binding;
    }

    /**
     * The decision that was left and not taken yet.
     *
     * @return its policies
     */
    public synchronized Optional<Binding> pending() {
        return Optional.ofNullable(pending);
    }

    /**
     * What of a cost is still to be charged, given what the request was charged before.
     *
     * @param policy the policy's name
     * @param identity the key in its stored form
     * @param cost the cost of the call at hand
     * @return permits, 0 if all of it was charged
     */
    synchronized long due(String policy, String identity, long cost) {
        long due = cost;
        for (Charge charge : charged) {
            if (charge.policy().policy().equals(policy) && charge.identity().equals(identity)) {
                due -= charge.cost();
            }
        }
        return Math.max(0, due);
    }

    /** Takes note that nothing is left to decide about a method. */
    synchronized void settled(Binding binding) {
        if (binding.equals(pending)) {
            pending = null;
        }
    }

    /** Whether all of a method's policies were charged, so that its second entry point has nothing left to resolve. */
    @SuppressWarnings("ReferenceEquality") // there is one binding per method
    synchronized boolean wasDecided(Binding binding) {
        return binding == admitted;
    }

    /** Takes note of a decision. */
    synchronized void decided(Binding binding, List<Charge> charges, Decision decision) {
        settled(binding);
        last = decision;
        lastEndpoint = binding.endpoint();
        lastCharges = charges;
        hidesQuotas |= binding.isMinimal();
        for (Quota quota : decision.quotas()) {
            quotas.removeIf(older ->
                    older.policy().equals(quota.policy()) && older.name().equals(quota.name()));
            quotas.add(quota);
        }
        if (decision.allowed()) {
            charged.addAll(charges);
            admitted = binding.needsArguments() ? admitted : binding;
        }
        if (decision instanceof Decision.Allowed admitted) {
            receipts.add(admitted.receipt());
        }
    }

    /** Takes note that the store has just failed to decide about this request. */
    synchronized void unanswered(BackendException failure, long nanos) {
        unanswered = failure;
        unansweredNanos = nanos;
    }

    /** Why the store failed to decide about this request a moment ago, null if it did not. */
    synchronized @Nullable BackendException unanswered(Pause clock) {
        return unanswered != null && clock.nanos() - unansweredNanos < UNANSWERED_NANOS ? unanswered : null;
    }

    /** Takes back the note of an admission whose charges were given back, before the decision that replaces it is noted. */
    @SuppressWarnings("ReferenceEquality") // there is one binding per method
    synchronized void withdrawn(Binding binding, List<Charge> charges, Decision decision) {
        if (decision instanceof Decision.Allowed given) {
            charges.forEach(charged::remove);
            receipts.remove(given.receipt());
            admitted = admitted == binding ? null : admitted;
        }
    }

    /**
     * Takes note that charges were given back: a later call in the same request is charged again.
     *
     * @param charges what was given back
     */
    public synchronized void givenBack(List<Charge> charges) {
        charges.forEach(charged::remove);
        admitted = charges.isEmpty() ? admitted : null;
    }

    /**
     * The decision that was taken last.
     *
     * @return the decision, empty if no limit was asked
     */
    public synchronized Optional<Decision> last() {
        return Optional.ofNullable(last);
    }

    /**
     * The decision that was taken last, with its charges.
     *
     * @return the decision without its duration, empty if no limit was asked
     */
    public synchronized Optional<DecisionEvent> lastEvent() {
        return last().map(decision -> new DecisionEvent(lastEndpoint, lastCharges, decision, 0));
    }

    /**
     * What each limit said when it was asked last in this request.
     *
     * @return the quotas, in the order they were asked
     */
    public synchronized List<Quota> quotas() {
        return List.copyOf(quotas);
    }

    /** Keeps all quotas of this request from the client, because a policy that tells nothing took part in it. */
    public synchronized void hideQuotas() {
        hidesQuotas = true;
    }

    /**
     * Whether the client must not be told any quota of this request.
     *
     * @return true if a policy that tells nothing took part in it
     */
    public synchronized boolean hidesQuotas() {
        return hidesQuotas;
    }

    /**
     * With which all that this request was charged can be given back.
     *
     * @return one receipt per decision that admitted
     */
    public synchronized List<Receipt> receipts() {
        return List.copyOf(receipts);
    }

    /**
     * Whether a request that is exempt has not been met under these policies.
     *
     * @param binding the policies that would decide
     * @return true the first time
     */
    public synchronized boolean isFirstAt(Binding binding) {
        return !passed.contains(binding) && passed.add(binding);
    }

    /**
     * Sets which policies hold for the method of this request, where they are not those of the method alone.
     *
     * @param own the policies of the method
     * @param here those that hold for it in this request
     */
    public synchronized void handle(Binding own, Binding here) {
        handledOwn = own;
        handled = here;
    }

    /**
     * The policies that hold for a method in this request.
     *
     * @param own the policies of the method
     * @return those of this request if the method is its own, else {@code own}
     */
    public synchronized Binding here(Binding own) {
        return handled != null && own.equals(handledOwn) ? handled : own;
    }

    /**
     * Takes note of what is to be done when the outcome of this request is known.
     *
     * @param settling told whether the request succeeded
     */
    public synchronized void settleLater(Consumer<Boolean> settling) {
        unsettled.add(settling);
    }

    /**
     * Settles what waits for the outcome, once.
     *
     * @param succeeded the outcome
     */
    public void settle(boolean succeeded) {
        List<Consumer<Boolean>> due;
        synchronized (this) {
            due = List.copyOf(unsettled);
            unsettled.clear();
        }
        due.forEach(settling -> settling.accept(succeeded));
    }
}
