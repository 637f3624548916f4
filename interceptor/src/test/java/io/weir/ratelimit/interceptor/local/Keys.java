// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;

/** Words for the tests of the bound on keys. */
final class Keys {
    static final PolicyLimits FIVE_AN_HOUR = policy("api", 5, Duration.ofHours(1));
    static final PolicyLimits ONE_A_SECOND = policy("short", 1, Duration.ofSeconds(1));

    private Keys() {}

    static PolicyLimits policy(String name, long permits, Duration window) {
        return new PolicyLimits(name, List.of(Limit.of(Algorithm.TOKEN_BUCKET, permits, window)));
    }

    static Charge charge(PolicyLimits policy, String identity) {
        return new Charge(policy, identity, 1);
    }

    static Decision acquire(LocalBackend backend, PolicyLimits policy, String identity) {
        return backend.acquire(List.of(charge(policy, identity)));
    }

    static void exhaust(LocalBackend backend, PolicyLimits policy, String identity) {
        backend.acquire(
                List.of(new Charge(policy, identity, policy.limits().get(0).capacity())));
    }

    /** Whether a call found a place; anything but a full store fails the test. */
    static boolean hasPlace(LocalBackend backend, PolicyLimits policy, String identity) {
        try {
            return acquire(backend, policy, identity).allowed();
        } catch (BackendException e) {
            if (e.reason() != BackendException.Reason.FULL) {
                throw e;
            }
            return false;
        }
    }
}
