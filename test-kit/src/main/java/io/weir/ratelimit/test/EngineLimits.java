// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** The state of the limits of an engine. */
final class EngineLimits implements RateLimits {
    private final TestEnvironment environment;
    private final Supplier<RateLimiter> limiter;

    EngineLimits(TestEnvironment environment, Supplier<RateLimiter> limiter) {
        this.environment = environment;
        this.limiter = limiter;
    }

    @Override
    public void exhaust(String policy, Identity key) {
        TestBackend backend = environment.backend();
        backend.inspect(() -> limiter.get().peek(policy, key)).ifPresent(charge -> {
            long left = least(backend.healthy().peek(charge));
            if (left > 0 && left != Long.MAX_VALUE) {
                backend.healthy().acquire(List.of(new Charge(charge.policy(), charge.storedKey(), left)));
            }
        });
    }

    @Override
    public long remaining(String policy, Identity key) {
        TestBackend backend = environment.backend();
        return backend.inspect(() -> limiter.get().peek(policy, key))
                .map(charge -> least(backend.healthy().peek(charge)))
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
