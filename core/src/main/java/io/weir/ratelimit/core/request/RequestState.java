// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The state of one request, which its entry points share: the caller, the binding of the resource method, the charges, and the
 * quotas for the response.
 *
 * <p>Safe for use by several threads, because a resource can call limited beans in parallel.
 */
public final class RequestState extends SlotHolder {
    /** A request that repeats its calls is usually shorter. A longer request can call a recovered backend again. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ChargeLedger ledger = new ChargeLedger();
    private final ResponseQuotas quotas = new ResponseQuotas();
    private volatile CallContext caller;
    private volatile @Nullable OfMethod binding;
    private volatile @Nullable RecentFailure failure;
    private volatile @Nullable EdgeReceipt receipt;

    /** The caller that was checked last and does not bypass the limits. */
    private @Nullable CallContext limitedCaller;

    /** The bindings that the request has bypassed; null unless the caller bypasses the limits. */
    private @Nullable List<Binding> bypassed;

    /** The names of the policies that were decided early. */
    private final Set<String> early = new HashSet<>(0);

    private List<Settlement> unsettled = List.of();
    private @Nullable Wait wait;

    /** The resource method that the filter has allowed and that has not been called yet. */
    private @Nullable String entered;

    /**
     * The policies that annotations bind to the resource method, and those of this request, with path rules. If pending, their decision
     * waits for the method's arguments.
     */
    private record OfMethod(Binding method, Binding request, boolean pending) {}

    private record RecentFailure(BackendException failure, long atNanos) {}

    /** The wait of the resource method for its permits, without a thread; its decision can be complete. */
    public record Wait(Binding binding, CompletableFuture<Decision> decision) {}

    /** A decision that waits for the outcome of the request. */
    public record Settlement(Binding binding, Decision decision) {}

    public RequestState(CallContext caller) {
        this.caller = caller;
    }

    /** Returns the caller, as the last entry point knows it. */
    public CallContext caller() {
        return caller;
    }

    /** Replaces the caller, because a later entry point knows more properties, such as the authenticated user. */
    public void caller(CallContext known) {
        caller = known;
    }

    public ResponseQuotas quotas() {
        return quotas;
    }

    public ChargeLedger ledger() {
        return ledger;
    }

    /** Sets what the edge has charged for this request. */
    public void receipt(@Nullable EdgeReceipt presented) {
        receipt = presented;
    }

    /**
     * Begins the claim of what the edge has charged, if this is the first call that needs one of its charges. Returns the charges of the
     * claim; empty if there is nothing to claim.
     */
    public List<Charge> claim(List<Charge> needed) {
        EdgeReceipt presented = receipt;
        return presented == null ? List.of() : presented.begin(needed);
    }

    /**
     * Begins the claim of what the edge has charged for a settlement, if it has charged a policy and no call has begun the claim. Returns
     * the charges of the claim; empty if there is nothing to claim.
     */
    public List<Charge> claim(String policy) {
        EdgeReceipt presented = receipt;
        return presented == null ? List.of() : presented.begin(policy);
    }

    /** Ends the claim. The charges of an accepted receipt are paid, and can be settled. */
    public void claimed(TimedDecision claim) {
        EdgeReceipt presented = receipt;
        if (presented != null) {
            presented.end(claim).ifPresent(paid -> {
                ledger.credit(paid.charges());
                quotas.reserved().add(paid);
            });
        }
    }

    /**
     * Sets the policies of the resource method in this request. A deferred decision is left to the entry point that knows the method's
     * arguments.
     */
    public void bind(Binding method, Binding request, boolean deferred) {
        binding = method.equals(request) && !deferred ? null : new OfMethod(method, request, deferred);
    }

    /**
     * Returns the policies that apply to a method in this request: those of the request if the method is its resource method, else the
     * given ones that annotations bind to it. A reload during the request does not change those of its resource method.
     */
    public Binding bindingOf(Binding method) {
        OfMethod current = binding;
        return current != null && method.endpoint().equals(current.method().endpoint()) ? current.request() : method;
    }

    /** Returns the policies of a deferred decision; empty if no decision is pending. */
    public Optional<Binding> pending() {
        OfMethod current = binding;
        return current != null && current.pending() ? Optional.of(current.request()) : Optional.empty();
    }

    /**
     * Records that the filter has decided about a call of the resource method, so that the next call of the method is that call.
     */
    public synchronized void enter(Binding decided) {
        entered = decided.endpoint();
    }

    /**
     * Tests whether the filter has decided about a call, and ends that: true for the first call of the resource method after its filter. A
     * later call of the same method is another call.
     */
    public synchronized boolean takeEntered(Binding binding) {
        boolean first = binding.endpoint().equals(entered);
        entered = first ? null : entered;
        return first;
    }

    public void decided(Binding decided) {
        OfMethod current = binding;
        if (current != null && current.pending() && decided.equals(current.request())) {
            binding = new OfMethod(current.method(), current.request(), false);
        }
    }

    /** Records a decision that the backend or a failure mode has taken. */
    public void decided(Binding decided, TimedDecision timed) {
        decided(decided);
        quotas.add(decided, timed);
    }

    /** Records that the backend has failed to decide about this request. */
    public void failed(BackendException reason, long nanos) {
        failure = new RecentFailure(reason, nanos);
    }

    /** Returns the failure of the backend for this request within the last second, null if there is none. */
    @Nullable
    public BackendException recentFailure(Sleeper clock) {
        RecentFailure recent = failure;
        return recent != null && clock.nanos() - recent.atNanos < RECENT_NANOS ? recent.failure : null;
    }

    /** Tests whether no limit applies to the request. The check for a bypass runs once for each caller of the request. */
    public boolean bypasses(Predicate<CallContext> check) {
        CallContext checked = caller;
        synchronized (this) {
            if (bypassed != null || checked == limitedCaller) {
                return bypassed != null;
            }
        }
        boolean bypasses = check.test(checked);
        synchronized (this) {
            if (bypasses && bypassed == null) {
                bypassed = new ArrayList<>(1);
            }
            limitedCaller = bypasses ? null : checked;
            return bypassed != null;
        }
    }

    /** Records that the request bypasses policies. Returns true the first time. */
    public synchronized boolean bypass(Binding policies) {
        return bypassed != null && !bypassed.contains(policies) && bypassed.add(policies);
    }

    /**
     * Selects the policies to decide early that were not decided early before, with the same endpoint. A request has two early entry
     * points.
     */
    public synchronized Binding decideEarly(Binding matching) {
        return new Binding(
                matching.endpoint(),
                matching.policies().stream()
                        .filter(each -> early.add(each.policy().name()))
                        .toList());
    }

    /** Defers the settlement of a decision about policies until the outcome of the request is known. */
    public synchronized void settleLater(Binding decided, Decision decision) {
        List<Settlement> all = new ArrayList<>(unsettled);
        all.add(new Settlement(decided, decision));
        unsettled = all;
    }

    /** Keeps the decision about the resource method, which has to wait for its permits. */
    public synchronized void waitFor(Binding policies, CompletableFuture<Decision> decision) {
        wait = new Wait(policies, decision);
    }

    /** Tests whether the decision about the resource method had to wait for its permits, until the request has its outcome. */
    public synchronized boolean isWaiting() {
        return wait != null;
    }

    /**
     * Returns the wait of the resource method for its permits, empty if there is none. A reload can have changed its policies meanwhile.
     */
    public synchronized Optional<Wait> waiting(String endpoint) {
        return wait != null && wait.binding.endpoint().equals(endpoint) ? Optional.of(wait) : Optional.empty();
    }

    /** Cancels the wait of the resource method, because the request has ended. */
    public void endWait() {
        Wait ended;
        synchronized (this) {
            ended = wait;
            wait = null;
        }
        if (ended != null) {
            ended.decision.cancel(false);
        }
    }

    /** Removes and returns the decisions that wait for the outcome of the request. */
    public synchronized List<Settlement> takeUnsettled() {
        List<Settlement> due = unsettled;
        unsettled = List.of();
        return due;
    }
}
