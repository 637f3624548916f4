// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The state of the limits of an engine. */
final class EngineLimits implements RateLimits {
    private final TestEnvironment environment;
    private final Supplier<RateLimiter> limiter;
    private final Supplier<HostedWeir> weir;

    EngineLimits(TestEnvironment environment, Supplier<RateLimiter> limiter, Supplier<HostedWeir> weir) {
        this.environment = environment;
        this.limiter = limiter;
        this.weir = weir;
    }

    @Override
    public void exhaust(String policy, Identity key) {
        TestBackend backend = environment.backend();
        backend.inspect(() -> limiter.get().peek(policy, key))
                .ifPresent(
                        charge -> charge.policy().limits().forEach(limit -> exhaust(backend.healthy(), charge, limit)));
    }

    /** Spends one limit without the others. A call takes one slot, whatever its cost is. */
    private static void exhaust(RateLimitBackend backend, Charge charge, Limit limit) {
        PolicyLimits policy = charge.policy();
        PolicyLimits only = new PolicyLimits(policy.policy(), policy.tier(), List.of(limit));
        long left = least(backend.peek(List.of(new Charge(only, charge.storedKey(), 1))));
        long calls = limit instanceof ConcurrencyLimit ? left : Math.min(left, 1);
        for (long call = 0; call < calls; call++) {
            backend.acquire(
                    List.of(new Charge(only, charge.storedKey(), limit instanceof ConcurrencyLimit ? 1 : left)));
        }
    }

    @Override
    public long remaining(String policy, Identity key) {
        TestBackend backend = environment.backend();
        return backend.inspect(() -> limiter.get().peek(policy, key))
                .map(charge -> least(backend.healthy().peek(List.of(charge))))
                .orElse(Long.MAX_VALUE);
    }

    private static long least(List<Quota> quotas) {
        return quotas.stream().mapToLong(Quota::remaining).min().orElse(Long.MAX_VALUE);
    }

    @Override
    public void reset(String policy, Identity key) {
        environment.backend().inspect(() -> limiter.get().reset(policy, key));
    }

    @Override
    public void block(String policy, Identity key, Duration duration) {
        environment.backend().inspect(() -> limiter.get().block(policy, key, duration));
    }

    @Override
    public void unblock(String policy, Identity key) {
        environment.backend().inspect(() -> limiter.get().unblock(policy, key));
    }

    @Override
    public void change(String policy, String attribute, String value) {
        environment.change(weir.get(), policy, attribute, value);
    }

    @Override
    public <E> List<E> events(Class<E> type) {
        return environment.events().list(type);
    }

    @Override
    public <E> List<E> awaitEvents(Class<E> type, Predicate<? super List<E>> condition) {
        return environment.events().await(type, condition);
    }

    @Override
    public void reset() {
        environment.reset();
    }

    @Override
    public void resetAll() {
        environment.resetAll();
    }

    @Override
    public void failBackend() {
        environment.faults().fail();
    }

    @Override
    public void delayBackend(Duration delay) {
        environment.faults().delay(delay);
    }

    @Override
    public void recoverBackend() {
        environment.faults().recover();
    }
}
