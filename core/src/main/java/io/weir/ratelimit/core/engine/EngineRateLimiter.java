// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** The rate limiter for application code. */
public final class EngineRateLimiter implements RateLimiter {
    private static final String ENDPOINT = "RateLimiter";

    private final RateLimitEngine engine;
    private final Supplier<Map<String, Policy>> policies;
    private final Supplier<Executor> executor;
    private final Supplier<Optional<CallContext>> caller;

    /** Creates a rate limiter. The executor of an asynchronous call is read on the thread of the call. */
    public EngineRateLimiter(
            RateLimitEngine engine,
            Supplier<Map<String, Policy>> policies,
            Supplier<Executor> executor,
            Supplier<Optional<CallContext>> caller) {
        this.engine = engine;
        this.policies = policies;
        this.executor = executor;
        this.caller = caller;
    }

    @Override
    public Decision acquire(String policy, Identity key) {
        return acquire(policy, key, named(policy).cost());
    }

    @Override
    public Decision acquire(String policy, Identity key, long cost) {
        Binding binding = binding(policy, cost);
        Objects.requireNonNull(key, "key");
        return isOff(binding) ? Decision.Allowed.UNLIMITED : engine.decide(binding, key);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(String policy, Identity key) {
        return acquireAsync(policy, key, named(policy).cost());
    }

    @Override
    public CompletionStage<Decision> acquireAsync(String policy, Identity key, long cost) {
        Binding binding = binding(policy, cost);
        Objects.requireNonNull(key, "key");
        return isOff(binding)
                ? CompletableFuture.completedFuture(Decision.Allowed.UNLIMITED)
                : engine.decideAsync(binding, key, executor.get());
    }

    @Override
    public List<Quota> peek(String policy, Identity key) {
        return engine.keys().peek(named(policy), key);
    }

    @Override
    public List<Quota> peek(String policy) {
        Policy found = named(policy);
        if (found.key().needsArguments()) {
            throw new IllegalArgumentException(
                    "the key of the policy " + policy + " uses an argument: name the key to peek at");
        }
        CallContext call =
                caller.get().orElseThrow(() -> new IllegalStateException("no HTTP request is active: peek with a key"));
        return engine.keys().peek(found, call);
    }

    @Override
    public void release(Receipt receipt) {
        engine.ends().release(Objects.requireNonNull(receipt, "receipt"));
    }

    @Override
    public void refund(Receipt receipt) {
        engine.ends().refund(Objects.requireNonNull(receipt, "receipt"));
    }

    @Override
    public void settle(Receipt receipt, long actualCost) {
        engine.settlements().settle(Objects.requireNonNull(receipt, "receipt"), actualCost);
    }

    @Override
    public CompletionStage<Void> settleAsync(Receipt receipt, long actualCost) {
        return engine.settlements().settleAsync(Objects.requireNonNull(receipt, "receipt"), actualCost);
    }

    @Override
    public void refund(String policy, Identity key, long cost) {
        engine.keys().refund(named(policy), key, cost);
    }

    @Override
    public void reset(String policy, Identity key) {
        engine.keys().reset(named(policy), key);
    }

    @Override
    public Duration block(String policy, Identity key, Duration duration) {
        return engine.keys().block(named(policy), engine.encoder().encode(key), duration);
    }

    @Override
    public CompletionStage<Duration> blockAsync(String policy, Identity key, Duration duration) {
        return engine.keys().blockAsync(named(policy), engine.encoder().encode(key), duration);
    }

    @Override
    public void unblock(String policy, Identity key) {
        engine.keys().unblock(named(policy), engine.encoder().encode(key));
    }

    @Override
    public TopKeys topKeys(String policy) {
        return engine.topKeys().top(named(policy).name());
    }

    private static boolean isOff(Binding binding) {
        return binding.policies().get(0).policy().rollout().mode() == Policy.Mode.OFF;
    }

    private Binding binding(String policy, long cost) {
        return new Binding(ENDPOINT, List.of(new Binding.PolicyCost(named(policy), cost)));
    }

    private Policy named(String policy) {
        Policy named = policies.get().get(Objects.requireNonNull(policy, "policy"));
        if (named == null) {
            throw new IllegalArgumentException("there is no policy \"" + policy + "\"");
        }
        return named;
    }
}
