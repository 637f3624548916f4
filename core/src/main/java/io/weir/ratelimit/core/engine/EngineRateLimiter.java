// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.fallback.Capabilities;
import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
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
        return engine.quotas().peek(named(policy), key);
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
        return engine.quotas().peek(found, call);
    }

    @Override
    public void release(Receipt receipt) {
        engine.ends().release(Objects.requireNonNull(receipt, "receipt"));
    }

    @Override
    public void refund(Receipt receipt) {
        engine.slots().refunded(Objects.requireNonNull(receipt, "receipt"));
        if (Settlements.hasCharges(receipt)) {
            engine.callAndAwait(backend -> backend.refund(receipt));
        }
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
        Charge charge = charge(policy, key, cost);
        engine.callAndAwait(backend -> backend.refund(charge));
    }

    @Override
    public void reset(String policy, Identity key) {
        Charge charge = charge(policy, key, 1);
        KeyAdministration.reset(engine, named(policy), Optional.of(charge.policy()), charge.storedKey());
    }

    @Override
    public Duration block(String policy, Identity key, Duration duration) {
        Policy named = named(policy);
        String storedKey = engine.encoder().encode(key);
        BlockedState.checkRange(duration);
        return engine.callAndAwait(backend -> blocks(backend).block(named.limits(), storedKey, duration));
    }

    @Override
    public CompletionStage<Duration> blockAsync(String policy, Identity key, Duration duration) {
        Policy named = named(policy);
        String storedKey = engine.encoder().encode(key);
        BlockedState.checkRange(duration);
        return engine.callAsync(backend -> blocks(backend).block(named.limits(), storedKey, duration));
    }

    @Override
    public void unblock(String policy, Identity key) {
        Policy named = named(policy);
        String storedKey = engine.encoder().encode(key);
        engine.callAndAwait(backend -> blocks(backend).unblock(named.limits(), storedKey));
    }

    private static BlocksKeys blocks(RateLimitBackend backend) {
        return Capabilities.require(backend, BlocksKeys.class);
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

    private Charge charge(String policy, Identity key, long cost) {
        Policy named = named(policy);
        String storedKey = engine.encoder().encode(key);
        return new Charge(engine.limits(named, key, storedKey), storedKey, cost);
    }

    private Policy named(String policy) {
        Policy named = policies.get().get(Objects.requireNonNull(policy, "policy"));
        if (named == null) {
            throw new IllegalArgumentException("there is no policy \"" + policy + "\"");
        }
        return named;
    }
}
