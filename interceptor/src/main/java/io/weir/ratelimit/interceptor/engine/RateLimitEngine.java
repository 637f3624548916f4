// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decides about calls: policies to charges, charges to the store, the store's answer to the listeners. */
public final class RateLimitEngine {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final RateLimitBackend backend;
    private final IdentityEncoder encoder;
    private final Audience<DecisionListener> listeners;
    private final Outages outages;
    private volatile boolean keyFailed;

    /**
     * An engine.
     *
     * @param backend the store
     * @param encoder writes identities in their stored form
     * @param listeners hear of each decision
     * @param outages takes note of the store's failures
     */
    public RateLimitEngine(
            RateLimitBackend backend, IdentityEncoder encoder, List<DecisionListener> listeners, Outages outages) {
        this.backend = backend;
        this.encoder = encoder;
        this.listeners = new Audience<>(listeners);
        this.outages = outages;
    }

    /**
     * Decides about a call in a request. What the request was charged before under the same policy and key counts towards the
     * cost.
     *
     * @param binding the policies of the method
     * @param call who calls, with the method's arguments where they are known
     * @param request what was decided about the request so far; takes note of the decision
     * @return the decision
     */
    public Decision decide(Binding binding, CallContext call, RequestRecord request) {
        Told told;
        // Two calls of one request at once would both find the charge still due.
        synchronized (request) {
            if (request.wasDecided(binding)) {
                return Decision.Allowed.UNLIMITED;
            }
            List<Charge> charges = charges(binding, call, request);
            if (charges.isEmpty()) {
                request.settled(binding);
                return Decision.Allowed.UNLIMITED;
            }
            told = asked(binding, charges);
            request.decided(binding, charges, told.decision);
        }
        // Afterwards: a listener may call the same request's beans, or wait for one of its threads.
        tell(binding, told);
        return told.decision;
    }

    /** A decision and how long the store took. */
    private record Told(List<Charge> charges, Decision decision, long nanos) {}

    /**
     * Decides about a call that belongs to no request.
     *
     * @param binding the policies of the method
     * @param call who calls
     * @return the decision
     */
    public Decision decide(Binding binding, CallContext call) {
        return decide(binding, charges(binding, call, null));
    }

    private List<Charge> charges(Binding binding, CallContext call, @Nullable RequestRecord request) {
        List<Charge> charges = new ArrayList<>(binding.policies().size());
        for (Binding.Costed costed : binding.policies()) {
            Policy policy = costed.policy();
            String identity = encoder.encode(identity(policy, call));
            long cost = request == null ? costed.cost() : request.due(policy.name(), identity, costed.cost());
            if (cost > 0) {
                charges.add(new Charge(policy.limits(), identity, cost));
            }
        }
        return List.copyOf(charges);
    }

    /** Who calls. A key that throws, such as an argument's own text, does not resolve; nobody is unlimited for that. */
    private Identity identity(Policy policy, CallContext call) {
        try {
            return policy.key().resolve(call);
        } catch (RuntimeException e) {
            if (!keyFailed) {
                keyFailed = true;
                LOG.log(Level.WARNING, "WEIR-305 the key of the policy " + policy.name() + " failed; said once", e);
            }
            return Identity.ANONYMOUS;
        }
    }

    Decision decide(Binding binding, List<Charge> charges) {
        Told told = asked(binding, charges);
        tell(binding, told);
        return told.decision;
    }

    private Told asked(Binding binding, List<Charge> charges) {
        long start = System.nanoTime();
        Decision decision;
        try {
            decision = backend.acquire(charges);
            outages.answered();
        } catch (RuntimeException e) {
            decision = degraded(binding, e);
        }
        return new Told(charges, decision, System.nanoTime() - start);
    }

    /** As {@link #decide(Binding, List)}, completed on a thread of the executor. */
    CompletionStage<Decision> decideAsync(Binding binding, List<Charge> charges, Executor executor) {
        long start = System.nanoTime();
        return acquireAsync(charges)
                .handle((decided, failure) -> {
                    long nanos = System.nanoTime() - start;
                    if (decided != null) {
                        outages.answered();
                    }
                    return new Told(charges, decided != null ? decided : degraded(binding, failure), nanos);
                })
                .thenApplyAsync(
                        told -> {
                            tell(binding, told);
                            return told.decision;
                        },
                        executor);
    }

    /** A store may throw as well as complete with a failure. */
    private CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        try {
            return backend.acquireAsync(charges);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private Decision degraded(Binding binding, Throwable failure) {
        BackendException known = known(failure);
        outages.failed(known);
        boolean closed =
                binding.policies().stream().anyMatch(costed -> costed.policy().onFailure() == FailureMode.CLOSED);
        return new Decision.Degraded(
                closed ? FailureMode.CLOSED : FailureMode.OPEN,
                !closed,
                known.reason().tag());
    }

    /** What is not known can have anything in its text, an identity too. */
    static BackendException known(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof BackendException known
                ? known
                : new BackendException(
                        BackendException.Reason.REFUSED,
                        "the store failed with " + cause.getClass().getName(),
                        cause);
    }

    private void tell(Binding binding, Told told) {
        outages.tellChanges();
        if (!listeners.isEmpty()) {
            listeners.tell(
                    DecisionListener::onDecision,
                    new DecisionEvent(binding.endpoint(), told.charges, told.decision, told.nanos));
        }
    }

    /** What code asks of the store beside decisions; a failure is counted like those of decisions. */
    <T> T ask(Function<RateLimitBackend, T> operation) {
        try {
            return operation.apply(backend);
        } catch (RuntimeException e) {
            BackendException known = known(e);
            outages.errorOf(known);
            throw new RateLimitUnavailableException(known.reason().tag());
        }
    }

    IdentityEncoder encoder() {
        return encoder;
    }
}
