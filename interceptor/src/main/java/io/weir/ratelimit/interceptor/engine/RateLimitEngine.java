// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.interceptor.engine.DecidingStore.Told;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decides about calls: policies to charges, charges to the store, the store's answer to the listeners. */
public final class RateLimitEngine {
    private final DecidingStore store;
    private final Fallback fallback;
    private final Shaping shaping;
    private final IdentityEncoder encoder;
    private final Audience<DecisionListener> listeners;
    private final Outages outages;
    private final Overrides overrides;
    private final HeavyKeys heavy;

    /**
     * An engine.
     *
     * @param backend the store
     * @param fallback decides where the store does not
     * @param encoder writes identities in their stored form
     * @param listeners hear of each decision
     * @param outages takes note of the store's failures
     * @param pause how calls wait
     * @param overrides the limits of single keys
     * @param heavy counts who is decided about
     */
    public RateLimitEngine(
            RateLimitBackend backend,
            Fallback fallback,
            IdentityEncoder encoder,
            List<DecisionListener> listeners,
            Outages outages,
            Pause pause,
            Overrides overrides,
            HeavyKeys heavy) {
        this.store = new DecidingStore(backend, fallback, outages);
        this.fallback = fallback;
        this.shaping = new Shaping(store, pause);
        this.encoder = encoder;
        this.listeners = new Audience<>(listeners);
        this.outages = outages;
        this.overrides = overrides;
        this.heavy = heavy;
    }

    /**
     * Decides about a call in a request, and waits where its policies let calls wait. What the request was charged before under
     * the same policy and key counts towards the cost.
     *
     * @param binding the policies of the method
     * @param call who calls, with the method's arguments where they are known
     * @param request what was decided about the request so far; takes note of the decision
     * @return the decision
     */
    public Decision decide(Binding binding, CallContext call, RequestRecord request) {
        if (!request.wasDecided(binding)) {
            awaitOverrides(binding, call);
        }
        Shaping.Waiter waiter = shaping.waiter(binding, request);
        return told(
                binding,
                waiter.decide(
                        () -> ask(binding, call, request, waiter), told -> callOff(binding, told, request, waiter)));
    }

    /**
     * One question to the store, under the request's lock: two calls of one request at once would both find the charge still due. A
     * charge is noted at once and not after the wait, which holds no lock.
     */
    private Shaping.@Nullable Answer ask(
            Binding binding, CallContext call, RequestRecord request, Shaping.Waiter waiter) {
        synchronized (request) {
            if (request.wasDecided(binding)) {
                return null;
            }
            List<Charge> charges = charges(binding, call, request, waiter);
            if (charges.isEmpty()) {
                request.settled(binding);
                return null;
            }
            Shaping.Answer answer = waiter.ask(charges);
            Told told = answer.told();
            if (answer.waitMicros() == 0 || told.decision().allowed()) {
                request.decided(binding, told.charges(), told.decision());
            }
            return answer;
        }
    }

    private static Told callOff(Binding binding, Told told, RequestRecord request, Shaping.Waiter waiter) {
        synchronized (request) {
            request.withdrawn(binding, told.charges(), told.decision());
            Told last = waiter.withoutWaiting(told);
            request.decided(binding, last.charges(), last.decision());
            return last;
        }
    }

    /**
     * Decides about a call that belongs to no request, and waits where its policies let calls wait.
     *
     * @param binding the policies of the method
     * @param call who calls
     * @return the decision
     */
    public Decision decide(Binding binding, CallContext call) {
        awaitOverrides(binding, call);
        Shaping.Waiter waiter = shaping.waiter(binding, null);
        return told(
                binding, waiter.decide(() -> waiter.ask(charges(binding, call, null, waiter)), waiter::withoutWaiting));
    }

    /** Without a lock: a listener may call the same request's beans, or wait for one of its threads. */
    private Decision told(Binding binding, @Nullable Told told) {
        if (told == null) {
            return Decision.Allowed.UNLIMITED;
        }
        tell(binding, told);
        return told.decision();
    }

    private List<Charge> charges(
            Binding binding, CallContext call, @Nullable RequestRecord request, Shaping.Waiter waiter) {
        List<Charge> charges = new ArrayList<>(binding.policies().size());
        for (Binding.Costed costed : binding.policies()) {
            Policy policy = costed.policy();
            Identity key = policy.key().resolve(call);
            String identity = encoder.encode(key);
            long cost = request == null ? costed.cost() : request.due(policy.name(), identity, costed.cost());
            if (cost > 0) {
                charges.add(charge(policy, limits(policy, key, identity, call), identity, cost, waiter));
            }
        }
        return List.copyOf(charges);
    }

    /** Those of the key itself, else of the caller's tier, else the policy's own. */
    private PolicyLimits limits(Policy policy, Identity key, String identity, CallContext call) {
        return overrides
                .of(policy, key, identity)
                .orElseGet(() -> policy.tiers().of(call, policy.limits()));
    }

    /** Without the request's lock, since a source may take its time. */
    private void awaitOverrides(Binding binding, CallContext call) {
        for (Binding.Costed costed : binding.policies()) {
            if (overrides.areFor(costed.policy())) {
                Identity key = costed.policy().key().resolve(call);
                overrides.await(costed.policy(), key, encoder.encode(key));
            }
        }
    }

    private static Charge charge(
            Policy policy, PolicyLimits limits, String identity, long cost, Shaping.Waiter waiter) {
        return policy.mode() == Policy.Mode.SHADOW
                ? new Charge(limits, identity, cost).asShadow()
                : new Charge(limits, identity, cost, waiter.patienceMicros(policy));
    }

    /** Decides about a key that code names. */
    Decision decide(Binding binding, Identity key) {
        String identity = encoder.encode(key);
        binding.policies().forEach(costed -> overrides.await(costed.policy(), key, identity));
        Shaping.Waiter waiter = shaping.waiter(binding, null);
        return told(
                binding,
                waiter.decide(() -> waiter.ask(charges(binding, key, identity, waiter)), waiter::withoutWaiting));
    }

    /** As {@link #decide(Binding, Identity)}, completed on a thread of the executor. */
    CompletableFuture<Decision> decideAsync(Binding binding, Identity key, Executor executor) {
        String identity = encoder.encode(key);
        Shaping.Waiter waiter = shaping.waiter(binding, null);
        CompletableFuture<?>[] ready = binding.policies().stream()
                .map(costed -> overrides.awaitAsync(costed.policy(), key, identity, shaping.pause()::after))
                .toArray(CompletableFuture<?>[]::new);
        return new AsyncDecision(
                        binding,
                        store,
                        shaping.pause(),
                        waiter,
                        () -> charges(binding, key, identity, waiter),
                        executor,
                        told -> tell(binding, told))
                .start(CompletableFuture.allOf(ready));
    }

    private List<Charge> charges(Binding binding, Identity key, String identity, Shaping.Waiter waiter) {
        return binding.policies().stream()
                .map(costed ->
                        charge(costed.policy(), known(costed.policy(), key, identity), identity, costed.cost(), waiter))
                .toList();
    }

    private PolicyLimits known(Policy policy, Identity key, String identity) {
        return overrides.of(policy, key, identity).orElse(policy.limits());
    }

    /** The limits that hold for a key that code names, after a wait for them if they are not known. */
    PolicyLimits limits(Policy policy, Identity key, String identity) {
        overrides.await(policy, key, identity);
        return known(policy, key, identity);
    }

    /**
     * Gives back, without waiting for the store, what a call was charged under policies that do not count its outcome.
     *
     * @param binding the policies of the call
     * @param decision what was decided about it
     * @param succeeded the outcome
     * @return what is given back
     */
    public List<Charge> settle(Binding binding, Decision decision, boolean succeeded) {
        if (decision instanceof Decision.Allowed allowed && allowed.receipt() instanceof BackendReceipt receipt) {
            BackendReceipt uncounted =
                    receipt.part(charge -> !binding.counts(charge.policy().policy(), succeeded));
            if (!uncounted.charges().isEmpty()) {
                store.giveBackAsync(uncounted);
            }
            return uncounted.charges();
        }
        return fallback.settle(binding, decision, succeeded);
    }

    /**
     * Tells of a call that goes on without a decision.
     *
     * @param binding the policies that would have decided, one or more
     */
    public void bypassed(Binding binding) {
        if (!listeners.isEmpty()) {
            List<PolicyLimits> policies = binding.policies().stream()
                    .map(costed -> costed.policy().limits())
                    .toList();
            listeners.tell((listener, endpoint) -> listener.onBypass(endpoint, policies), binding.endpoint());
        }
    }

    private void tell(Binding binding, Told told) {
        heavy.decided(told.charges(), told.decision(), told.atNanos());
        outages.tellChanges();
        if (!listeners.isEmpty()) {
            listeners.tell(
                    DecisionListener::onDecision,
                    new DecisionEvent(binding.endpoint(), told.charges(), told.decision(), told.nanos()));
        }
    }

    /** What the caller of a request has left. */
    List<Quota> peek(Policy policy, CallContext call) {
        Identity key = policy.key().resolve(call);
        String identity = encoder.encode(key);
        overrides.await(policy, key, identity);
        Charge charge =
                new Charge(limits(policy, key, identity, call), identity, policy.cost(), policy.maxWaitMicros());
        return ask(backend -> backend.peek(charge));
    }

    /** What code asks of the store beside decisions. */
    <T> T ask(Function<RateLimitBackend, T> operation) {
        return store.ask(operation);
    }

    HeavyKeys heavy() {
        return heavy;
    }

    IdentityEncoder encoder() {
        return encoder;
    }
}
