// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The state of the limits of an engine. */
final class EngineLimits implements RateLimits {
    private final TestEnvironment environment;
    private final IdentityEncoder encoder;
    private final Map<String, Policy> policies;

    EngineLimits(TestEnvironment environment, IdentityEncoder encoder, Map<String, Policy> policies) {
        this.environment = environment;
        this.encoder = encoder;
        this.policies = policies;
    }

    @Override
    public void exhaust(String policy, Identity key) {
        // Each limit can have another number of permits, and a call spends the least of them.
        for (long left = remaining(policy, key); left > 0; left = remaining(policy, key)) {
            backend().acquire(List.of(charge(policy, key, left)));
        }
    }

    @Override
    public long remaining(String policy, Identity key) {
        return backend().peek(charge(policy, key, 1)).stream()
                .mapToLong(Quota::remaining)
                .min()
                .orElse(0);
    }

    @Override
    public void reset(String policy, Identity key) {
        Charge charge = charge(policy, key, 1);
        backend().reset(charge.policy(), charge.storedKey());
    }

    private RateLimitBackend backend() {
        return environment.backend().healthy();
    }

    private Charge charge(String name, Identity key, long cost) {
        Policy policy = policies.get(Objects.requireNonNull(name, "policy"));
        if (policy == null) {
            throw new IllegalArgumentException("there is no policy \"" + name + "\"");
        }
        return new Charge(policy.limits(), encoder.encode(key), cost);
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
