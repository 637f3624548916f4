// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;

/** Policies and calls for the tests of the local backend. */
final class Keys {
    static final PolicyLimits FIVE_AN_HOUR = policy("api", 5, Duration.ofHours(1));
    static final PolicyLimits ONE_A_SECOND = policy("short", 1, Duration.ofSeconds(1));

    private Keys() {}

    static PolicyLimits policy(String name, long permits, Duration window) {
        return new PolicyLimits(name, List.of(Limit.of(Algorithm.TOKEN_BUCKET, permits, window)));
    }

    static Charge charge(PolicyLimits policy, String storedKey) {
        return new Charge(policy, storedKey, 1);
    }

    static Decision acquire(LocalBackend backend, PolicyLimits policy, String storedKey) {
        return backend.acquire(List.of(charge(policy, storedKey)));
    }

    static void exhaust(LocalBackend backend, PolicyLimits policy, String storedKey) {
        backend.acquire(
                List.of(new Charge(policy, storedKey, policy.limits().get(0).capacity())));
    }

    /** Acquires, and returns false if the call is rejected or the backend is full. */
    static boolean hasPlace(LocalBackend backend, PolicyLimits policy, String storedKey) {
        try {
            return acquire(backend, policy, storedKey).allowed();
        } catch (BackendException e) {
            if (e.reason() != BackendException.Reason.FULL) {
                throw e;
            }
            return false;
        }
    }

    /** Decides as the engine does under {@code on-failure=open}: approximately if the table is full. */
    static Decision decide(LocalBackend backend, Charge... charges) {
        try {
            return backend.acquire(List.of(charges));
        } catch (BackendException e) {
            if (e.reason() != BackendException.Reason.FULL) {
                throw e;
            }
            return backend.acquireApproximately(List.of(charges)).orElseThrow();
        }
    }

    /** Decides several calls of a cost of 1 and returns how many are allowed. */
    static int allowed(LocalBackend backend, PolicyLimits policy, String storedKey, int calls) {
        int allowed = 0;
        for (int i = 0; i < calls; i++) {
            allowed += decide(backend, charge(policy, storedKey)).allowed() ? 1 : 0;
        }
        return allowed;
    }
}
