// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The path of an outgoing call: it takes a retry from the budget, lets the engine decide, and applies what the upstream answers.
 */
public final class OutgoingCalls {
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** The waits for a slot after which a call is rejected if the key is paused again. */
    private static final int MAX_PAUSED_WAITS = 3;

    private final boolean enabled;
    private final Map<String, ClientState> clients = new HashMap<>();
    private final Supplier<Map<String, Policy>> policies;
    private final RateLimitEngine engine;
    private final RateLimiter limiter;
    private final UpstreamRules rules;
    private final OutgoingListener listener;

    /**
     * The state of one client in this instance. The shared backend does not have the pauses that are unstored; calls that are decided
     * without it use all pauses.
     */
    private record ClientState(
            OutgoingClient client,
            RetryBudget budget,
            RecentAttempts attempts,
            LocalPauses pauses,
            LocalPauses unstored) {}

    /** A call with its key and the policies that it has to pay. It can have begun during a pause that the shared backend did not have. */
    private record Due(ClientState state, OutgoingCall call, Identity key, Binding binding, boolean duringUnstored) {}

    /**
     * Creates the path. The number of instances is that of those that share the budgets of retries.
     *
     * @param nanoTime the time of attempts and local pauses
     * @param clock the wall clock, for dates of an upstream that sends no {@code Date}
     */
    public OutgoingCalls(
            boolean enabled,
            Map<String, OutgoingClient> clients,
            IntSupplier instances,
            Supplier<Map<String, Policy>> policies,
            RateLimitEngine engine,
            RateLimiter limiter,
            OutgoingListener listener,
            LongSupplier nanoTime,
            InstantSource clock) {
        this.enabled = enabled;
        clients.forEach((name, client) -> this.clients.put(
                name,
                new ClientState(
                        client,
                        new RetryBudget(client.retryPercent(), instances, nanoTime),
                        new RecentAttempts(nanoTime),
                        new LocalPauses(nanoTime),
                        new LocalPauses(nanoTime))));
        this.policies = policies;
        this.engine = engine;
        this.limiter = limiter;
        this.rules = new UpstreamRules(engine, limiter, listener, clock);
        this.listener = listener;
    }

    /** Tests whether calls are limited. If {@code ratelimit.enabled} is false, nothing else is to be called. */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * Decides about a call before it is sent. Waits if the policies of the client let the call wait. The permission is to be passed to
     * {@link #answered}.
     *
     * @throws IllegalArgumentException if the client is not configured
     * @throws RateLimitExceededException if the policies or the retry budget reject the call
     * @throws RateLimitUnavailableException if the backend is unavailable and the failure mode of a policy rejects the call
     */
    public Permit begin(OutgoingCall call) {
        try {
            return begin(call, due -> CompletableFuture.completedFuture(engine.decide(due.binding, due.key)))
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        }
    }

    /**
     * Decides or fails as {@link #begin}, but the calling thread waits for nothing. The executor runs what can block, such as key
     * resolvers, in the context of the call.
     */
    public CompletableFuture<Permit> beginAsync(OutgoingCall call, Executor threads) {
        // All steps are composed on these threads, because a step with a complete result runs at once.
        return CompletableFuture.completedFuture(call)
                .thenComposeAsync(
                        begun -> begin(begun, due -> engine.decideAsync(due.binding, due.key, threads)), threads);
    }

    private CompletableFuture<Permit> begin(OutgoingCall call, Function<Due, CompletableFuture<Decision>> acquire) {
        ClientState state = state(call.client());
        Boolean marked = call.retry();
        boolean retry = marked != null ? marked : state.attempts.isRetry(call.attempt());
        if (retry) {
            takeRetry(state);
        }
        return CompletableFuture.completedFuture(state)
                .thenCompose(known -> decide(known, call, acquire))
                .whenComplete((permit, failure) -> {
                    if (failure == null) {
                        state.attempts.begin(call.attempt());
                    }
                    if (failure == null && !retry) {
                        state.budget.addOrdinary();
                    } else if (failure != null && retry) {
                        state.budget.giveBack();
                    }
                });
    }

    private ClientState state(String client) {
        ClientState state = clients.get(client);
        if (state == null) {
            throw new IllegalArgumentException(MESSAGES.text(
                    "WEIR-239", client, ConfigKeys.CLIENT_POLICY.of(client).name()));
        }
        return state;
    }

    private void takeRetry(ClientState state) {
        boolean allowed = state.budget.tryTake();
        listener.retried(state.client.name(), allowed);
        if (!allowed) {
            throw exceeded(state.client, "retry budget", Micros.NEVER);
        }
    }

    private CompletableFuture<Permit> decide(
            ClientState state, OutgoingCall call, Function<Due, CompletableFuture<Decision>> acquire) {
        Identity key = state.client.key().of(call);
        Due due = new Due(state, call, key, binding(state.client), state.unstored.restMicros(key) > 0);
        Decision given = call.decision();
        CompletableFuture<Decision> decision =
                given != null ? CompletableFuture.completedFuture(given) : acquire(due, acquire);
        return decision.thenCompose(made -> unlessPaused(due, made, acquire, 1));
    }

    private static CompletableFuture<Decision> acquire(Due due, Function<Due, CompletableFuture<Decision>> acquire) {
        return due.binding.policies().isEmpty()
                ? CompletableFuture.completedFuture(Decision.Allowed.UNLIMITED)
                : acquire.apply(due);
    }

    private CompletableFuture<Permit> unlessPaused(
            Due due, Decision decision, Function<Due, CompletableFuture<Decision>> acquire, int waits) {
        long paused = pauseMicros(due.binding, due.key, decision);
        if (paused == 0) {
            return CompletableFuture.completedFuture(permit(due, decision));
        }
        if (isGiven(due, decision) || waits > MAX_PAUSED_WAITS) {
            throw paused(due, decision, paused);
        }
        engine.ends().abandon(decision);
        return acquire(due, acquire).thenCompose(next -> unlessPaused(due, next, acquire, waits + 1));
    }

    private static boolean isGiven(Due due, Decision decision) {
        return decision == due.call.decision();
    }

    /** Returns the rejection of a call by a pause, after its permits are refunded. Application code refunds those of its own decision. */
    private RateLimitExceededException paused(Due due, Decision decision, long micros) {
        if (!isGiven(due, decision)) {
            engine.ends().abandon(decision);
        }
        return exceeded(due.state.client, "pause", micros);
    }

    private Permit permit(Due due, Decision decision) {
        ClientState state = due.state;
        OutgoingClient client = state.client;
        Identity key = due.key;
        Binding binding = due.binding;
        long unstored = decision instanceof Decision.Degraded ? 0 : storeAgain(due);
        if (decision instanceof Decision.Rejected rejected) {
            throw new RateLimitExceededException(rejected);
        }
        if (unstored > 0) {
            throw paused(due, decision, unstored);
        }
        if (decision instanceof Decision.Degraded degraded) {
            if (!degraded.allowed()) {
                throw new RateLimitUnavailableException(degraded.reason(), degraded.retryAfter());
            }
            long pause = state.pauses.restMicros(key);
            if (pause > 0) {
                throw exceeded(client, "pause", pause);
            }
        }
        return new Permit(client, binding, key, decision, !isGiven(due, decision), due.call.attempt());
    }

    /**
     * Stores a pause that began while the backend was unavailable, and returns its rest, 0 if there is none. Another call can have stored it
     * after the decision of this one.
     */
    private long storeAgain(Due due) {
        ClientState state = due.state;
        long unstored = state.unstored.handOver(due.key, rest -> rules.store(state.client, due.binding, due.key, rest));
        return unstored == 0 && due.duringUnstored ? state.pauses.restMicros(due.key) : unstored;
    }

    /**
     * Returns the rest of a pause that began while a call waited for its slot, which was charged before the pause; 0 if there is none.
     * Without an answer of the backend, the call is sent.
     */
    private long pauseMicros(Binding binding, Identity key, Decision decision) {
        if (!(decision instanceof Decision.Allowed allowed) || allowed.waitMicros() == 0) {
            return 0;
        }
        Policy blocked = UpstreamRules.blockedPolicy(binding, engine.encoder().encode(key));
        if (blocked == null) {
            return 0;
        }
        try {
            return limiter.peek(blocked.name(), key).stream()
                    .mapToLong(Micros::blockedFor)
                    .max()
                    .orElse(0);
        } catch (RateLimitUnavailableException | IllegalArgumentException e) {
            return 0;
        }
    }

    private Binding binding(OutgoingClient client) {
        Map<String, Policy> current = policies.get();
        List<Binding.PolicyCost> due = new ArrayList<>();
        for (String name : client.policies()) {
            Policy policy = current.get(name);
            if (policy != null && policy.rollout().mode() != Policy.Mode.OFF) {
                due.add(new Binding.PolicyCost(policy, policy.cost()));
            }
        }
        return new Binding(MethodLimits.CLIENT + client.name(), due);
    }

    /** Creates the rejection of a call that no limit of a policy has rejected. */
    private static RateLimitExceededException exceeded(OutgoingClient client, String cause, long retryAfterMicros) {
        Duration reset = Micros.duration(retryAfterMicros == Micros.NEVER ? 0 : retryAfterMicros);
        Duration window = reset.compareTo(SECOND) < 0 ? SECOND : reset;
        Quota.Builder builder = Quota.builder(client.policies().get(0), client.name() + "-" + cause.replace(' ', '-'))
                .window(0, window)
                .resetAfter(reset);
        Quota quota = Micros.rejectedFor(builder, retryAfterMicros).build();
        return new RateLimitExceededException(
                new Decision.Rejected(List.of(new ChargeResult(quota.policy(), false, List.of(quota)))),
                cause + " of client " + client.name());
    }

    /** Returns the permits of a call that is not sent. */
    public void abandon(Permit permit) {
        state(permit.client().name()).attempts.forget(permit.attempt());
        if (permit.owned()) {
            engine.ends().abandon(permit.decision());
        }
    }

    /**
     * Applies what the upstream has answered: pauses the key, and lowers the own quota. Returns when the backend has stored a pause, or has
     * failed to.
     */
    public void answered(Permit permit, UpstreamResponse response) {
        ClientState state = state(permit.client().name());
        state.attempts.end(permit.attempt(), response.status());
        long pauseMicros = rules.apply(permit, response);
        if (pauseMicros > 0) {
            state.pauses.pause(permit.key(), pauseMicros);
            // A longer pause of an earlier response can still be unstored.
            state.unstored.pause(permit.key(), pauseMicros);
            long rest = state.unstored.handOver(
                    permit.key(),
                    micros -> rules.store(
                            permit.client(), permit.binding(), permit.key(), Math.max(micros, pauseMicros)));
            if (rest == 0) {
                rules.store(permit.client(), permit.binding(), permit.key(), pauseMicros);
            }
        }
    }
}
