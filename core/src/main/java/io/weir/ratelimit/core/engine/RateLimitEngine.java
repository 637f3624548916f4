// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.events.GuardedListeners;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The pipeline of a call: it resolves the charges of the policies, lets the backend decide, and notifies the listeners. */
public final class RateLimitEngine {
    private final FallbackBackend backend;
    private final IdentityEncoder encoder;
    private final GuardedListeners<DecisionListener> listeners;
    private final Sleeper sleeper;
    private final Overrides overrides;
    private final Charges charges;
    private final TopKeysTracker topKeys;
    private final QuotaThresholds thresholds;
    private final RejectionListener rejections;
    private final Settlements settlements;
    private final WaitBulkhead threads;
    private final WaitBulkhead withoutThreads;
    private final CallEnds ends;
    private final KeyAdministration keys;
    private final WaitingCalls waiting = new WaitingCalls();

    RateLimitEngine(EngineBuilder parts) {
        this.backend = parts.backend;
        this.encoder = parts.encoder;
        this.listeners = new GuardedListeners<>(parts.listeners);
        this.sleeper = parts.clock;
        this.overrides = parts.overrides;
        this.charges = new Charges(encoder, overrides, new RecentCharges(backend::acquireOf));
        this.topKeys = parts.topKeys;
        this.thresholds = parts.thresholds;
        this.rejections = parts.rejections;
        this.settlements = new Settlements(backend, listeners, thresholds);
        this.threads = parts.threads;
        this.withoutThreads = parts.withoutThreads;
        this.ends = new CallEnds(backend, sleeper);
        this.keys = new KeyAdministration(backend, encoder, overrides, charges);
    }

    /** Returns a builder with an engine that only decides, by a backend. */
    public static EngineBuilder on(FallbackBackend backend) {
        return new EngineBuilder(backend);
    }

    /**
     * Decides about a call, and waits if the policies let it wait. A charge that a call of another method of its request has paid is not
     * due.
     */
    public Decision decide(Binding binding, CallContext call, @Nullable RequestState request) {
        boolean atOnce = request == null && !binding.canWait() && !binding.notifies();
        RecentCharges.Entry recent = atOnce ? charges.recent(binding, call) : null;
        if (recent != null) {
            return decideAtOnce(binding, recent.charges(), recent);
        }
        charges.awaitOverrides(binding, call);
        if (atOnce) {
            return decideAtOnce(binding, charges.of(binding, call, null), null);
        }
        return complete(
                binding,
                acquisition(binding, threads, request, acquisition -> charges.of(binding, call, acquisition)),
                policy -> policy.key().resolve(call));
    }

    /** Decides without objects for a wait or a request, and reads the clock only if a listener needs allowed decisions. */
    private Decision decideAtOnce(Binding binding, List<Charge> due, RecentCharges.@Nullable Entry recent) {
        boolean measured = needs(Decision.Allowed.UNLIMITED);
        long start = measured ? sleeper.nanos() : 0;
        Decision decision;
        try {
            decision = recent == null ? backend.tryAcquire(due) : backend.tryAcquire(recent.acquire());
        } catch (RuntimeException e) {
            TimedDecision failed = backend.failed(binding, due, e, start);
            ends.decided(failed.decision());
            topKeys.decided(due, failed.decision(), failed.atNanos());
            notifyListeners(binding, failed, measured || needs(failed.decision()));
            return failed.decision();
        }
        ends.decided(decision);
        long end = measured ? sleeper.nanos() : backend.atNanos(decision);
        boolean plain = isPlain(decision);
        if (recent != null && plain) {
            topKeys.allowed(recent.keys(), decision, end);
        } else {
            topKeys.decided(due, decision, end);
        }
        boolean needed = measured || (!plain && needs(decision));
        notifyListeners(binding, new TimedDecision(due, decision, measured ? end - start : 0, end, null), needed);
        return decision;
    }

    /** Tests whether a decision is like most others. */
    private static boolean isPlain(Decision decision) {
        return decision instanceof Decision.Allowed allowed && !ChargedResults.hasShadowQuotas(allowed);
    }

    /** Decides about a key that application code or a client names. Waits if the policies let the call wait. */
    public Decision decide(Binding binding, Identity key) {
        String storedKey = encoder.encode(key);
        for (Binding.PolicyCost policyCost : binding.policies()) {
            overrides.await(policyCost.policy(), key, storedKey);
        }
        return complete(
                binding,
                acquisition(binding, threads, null, acquisition -> charges.of(binding, key, storedKey, acquisition)),
                policy -> key);
    }

    private Acquisition acquisition(
            Binding binding,
            WaitBulkhead bulkhead,
            @Nullable RequestState request,
            Function<Acquisition, List<Charge>> resolver) {
        CallWait wait =
                binding.canWait() ? new CallWait(binding, bulkhead, ends.slots().queues(), sleeper, waiting) : null;
        return new Acquisition(binding, backend, sleeper, ends, request, wait, resolver);
    }

    /**
     * Decides as {@link #decide(Binding, CallContext, RequestState)}, but the calling thread does not wait for permits. To cancel the
     * decision refunds the permits.
     *
     * @param executor returns the executor that completes the decision after a wait; called on the calling thread
     */
    public CompletableFuture<Decision> decideLater(
            Binding binding, CallContext call, @Nullable RequestState request, Supplier<Executor> executor) {
        charges.awaitOverrides(binding, call);
        Acquisition acquisition =
                acquisition(binding, withoutThreads, request, current -> charges.of(binding, call, current));
        if (!acquisition.runUntilWait()) {
            return CompletableFuture.completedFuture(
                    ended(binding, acquisition.result(), policy -> policy.key().resolve(call)));
        }
        AsyncAcquisition rest = waiting(binding, acquisition, binding.keysOf(call), executor);
        return waiting.keepWait(rest.resume());
    }

    /**
     * Decides as {@link #decide(Binding, CallContext, RequestState)}, but the calling thread waits for nothing: neither for look-ups of the
     * application, nor for the backend, nor for permits. Listeners run on the calling thread if nothing delays the decision. The decision
     * completes on any thread; to cancel it refunds the permits.
     *
     * @param threads runs what can block, such as key resolvers, in the context of the call
     */
    public CompletableFuture<Decision> decideAsync(
            Binding binding, CallContext call, @Nullable RequestState request, Executor threads) {
        Acquisition acquisition =
                acquisition(binding, withoutThreads, request, current -> charges.of(binding, call, current));
        if (!binding.callsResolver()) {
            AsyncAcquisition rest = async(binding, acquisition, binding.keysOf(call), threads);
            return waiting.keep(rest.startHere(limits(binding, call)));
        }
        AtomicReference<Function<Policy, Identity>> keys = new AtomicReference<>(policy -> Identity.ANONYMOUS);
        AsyncAcquisition rest = async(
                binding,
                acquisition,
                policy -> Objects.requireNonNull(keys.get()).apply(policy),
                threads);
        return waiting.keep(rest.startLater(() -> {
            keys.set(binding.keysOf(call));
            return limits(binding, call);
        }));
    }

    /** Returns a future that completes when the limits of the keys of a call are known, by the deadline. */
    private CompletableFuture<?> limits(Binding binding, CallContext call) {
        return CompletableFuture.allOf(charges.awaitOverridesAsync(binding.policies(), call, sleeper::timer)
                .toArray(CompletableFuture<?>[]::new));
    }

    private AsyncAcquisition waiting(
            Binding binding, Acquisition acquisition, Function<Policy, Identity> keys, Supplier<Executor> executor) {
        try {
            return async(binding, acquisition, keys, executor.get());
        } catch (RuntimeException e) { // the application ends
            backend.refundAsync(acquisition.abandon());
            throw e;
        }
    }

    private AsyncAcquisition async(
            Binding binding, Acquisition acquisition, Function<Policy, Identity> keys, Executor executor) {
        return new AsyncAcquisition(
                binding, acquisition, backend, sleeper, executor, timed -> reported(binding, timed, keys));
    }

    /**
     * Cancels the calls that wait, and releases all slots, because the application ends. A wait of a thread ends with a {@link
     * java.util.concurrent.CancellationException}.
     */
    public void stop() {
        waiting.cancel();
        ends.slots().stop();
    }

    /** Returns what happens at the ends of calls. */
    public CallEnds ends() {
        return ends;
    }

    private Decision complete(Binding binding, Acquisition acquisition, Function<Policy, Identity> keys) {
        return ended(binding, acquisition.await(), keys);
    }

    private Decision ended(Binding binding, @Nullable TimedDecision timed, Function<Policy, Identity> keys) {
        if (timed == null) {
            return Decision.Allowed.UNLIMITED;
        }
        reported(binding, timed, keys);
        return timed.decision();
    }

    /** Decides as {@link #decide(Binding, Identity)}; the result completes on a thread of the executor. */
    public CompletableFuture<Decision> decideAsync(Binding binding, Identity key, Executor executor) {
        String storedKey = encoder.encode(key);
        CompletableFuture<?>[] limits = binding.policies().stream()
                .map(policyCost -> overrides.awaitAsync(policyCost.policy(), key, storedKey, sleeper::timer))
                .toArray(CompletableFuture<?>[]::new);
        Acquisition acquisition =
                acquisition(binding, withoutThreads, null, current -> charges.of(binding, key, storedKey, current));
        AsyncAcquisition call = async(binding, acquisition, policy -> key, executor);
        return waiting.keep(call.start(CompletableFuture.allOf(limits)));
    }

    /**
     * Decides about several calls as one, with one policy or more in all, without blocking the thread. The calls do not wait for permits.
     * The endpoint names them in metrics and events.
     */
    public CompletableFuture<JointDecision> decideAsync(String endpoint, List<JointCall> calls, Executor executor) {
        JointCharges joint = new JointCharges(charges, calls);
        Binding binding = joint.binding(endpoint);
        CompletableFuture<?>[] limits = calls.stream()
                .flatMap(call -> charges.awaitOverridesAsync(call.policies(), call.properties(), sleeper::timer))
                .toArray(CompletableFuture<?>[]::new);
        Acquisition acquisition = acquisition(binding, withoutThreads, null, current -> joint.resolve());
        AsyncAcquisition call =
                async(binding, acquisition, policy -> policy.key().resolve(joint.first(policy.name())), executor);
        return waiting.keep(call.start(CompletableFuture.allOf(limits)))
                .thenApply(decision -> new JointDecision(decision, joint.results(decision)));
    }

    /** Notifies the listeners of a call that bypasses its policies, one or more. */
    public void bypass(Binding binding) {
        List<PolicyLimits> policies = binding.policies().stream()
                .map(policyCost -> policyCost.policy().limits())
                .toList();
        listeners.notifyEach((listener, endpoint) -> listener.onBypass(endpoint, policies), binding.endpoint());
    }

    /** Returns whether a listener needs a decision. An event is created only then. */
    private boolean needs(Decision decision) {
        return listeners.anyAccepts(DecisionListener::needs, decision);
    }

    /** Notifies the listeners, and reports the used shares of the keys of the call. */
    private void reported(Binding binding, TimedDecision timed, Function<Policy, Identity> keys) {
        notifyListeners(binding, timed);
        if (binding.notifies()) {
            thresholds.decided(binding, timed, keys);
        }
    }

    private void notifyListeners(Binding binding, TimedDecision timed) {
        topKeys.decided(timed.charges(), timed.decision(), timed.atNanos());
        notifyListeners(binding, timed, needs(timed.decision()));
    }

    /**
     * Notifies the listeners without holding a monitor, because a listener can call beans of the same request or wait for another
     * of its threads.
     */
    private void notifyListeners(Binding binding, TimedDecision timed, boolean needed) {
        backend.notifyChanges();
        if (needed) {
            listeners.notifyEach(
                    DecisionListener::onDecision,
                    new DecisionEvent(binding.endpoint(), timed.charges(), timed.decision(), timed.nanos()));
        }
        if (timed.decision() instanceof Decision.Rejected rejected) {
            rejections.rejected(binding, timed.charges(), rejected);
        }
    }

    /** Returns the operations on keys. */
    public KeyAdministration keys() {
        return keys;
    }

    /** Returns the settlements of reserved costs. */
    public Settlements settlements() {
        return settlements;
    }

    TopKeysTracker topKeys() {
        return topKeys;
    }

    public IdentityEncoder encoder() {
        return encoder;
    }

    /** One of several calls that are decided as one, with the properties from which its keys and tiers are determined. */
    public record JointCall(List<Binding.PolicyCost> policies, CallContext properties) {
        public JointCall {
            policies = List.copyOf(policies);
        }
    }

    /**
     * The decision on several calls: all of them are charged, or none. The results are in the order of the calls; those of a call are empty
     * if no limit was evaluated for it.
     */
    public record JointDecision(Decision decision, List<List<ChargeResult>> results) {
        public JointDecision {
            results = List.copyOf(results);
        }
    }
}
