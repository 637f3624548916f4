// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.UUID;

/** A key of one backend under the policy {@code api}, with the operations of the tests. */
record TestKey(TestedBackend backend, String storedKey) {

    /** Returns a key that no other test and no earlier run has used. */
    static TestKey fresh(TestedBackend backend) {
        return new TestKey(backend, "k." + UUID.randomUUID());
    }

    static PolicyLimits policy(Limit... limits) {
        return new PolicyLimits("api", List.of(limits));
    }

    Charge charge(long cost, Limit... limits) {
        return new Charge(policy(limits), storedKey, cost);
    }

    Charge waitingCharge(long maxWaitMicros, long cost, Limit... limits) {
        return new Charge(policy(limits), storedKey, cost, maxWaitMicros);
    }

    Decision acquire(Limit limit, long cost) {
        return backend.acquire(List.of(charge(cost, limit)));
    }

    /** Acquires permits with the longest wait of the limit. */
    Decision acquireWaiting(Limit limit, long cost) {
        return backend.acquire(List.of(waitingCharge(limit.maxWait().toMillis() * 1_000, cost, limit)));
    }

    /** Acquires permits with the longest wait of the limit and returns the wait; fails the test if the call is rejected. */
    long waitMicros(Limit limit, long cost) {
        Decision decision = acquireWaiting(limit, cost);
        assertThat(decision).as("%d of %s", cost, limit).isInstanceOf(Decision.Allowed.class);
        return ((Decision.Allowed) decision).waitMicros();
    }

    /** Spends permits; fails the test if the call is rejected. */
    Decision.Allowed spend(Limit limit, long cost) {
        Decision decision = acquire(limit, cost);
        assertThat(decision).as("%d of %s", cost, limit).isInstanceOf(Decision.Allowed.class);
        return (Decision.Allowed) decision;
    }

    /** Returns the quota of a rejected call; fails the test if the call is allowed. */
    Quota rejection(Limit limit, long cost) {
        Decision decision = acquire(limit, cost);
        assertThat(decision).as("%d of %s", cost, limit).isInstanceOf(Decision.Rejected.class);
        return decision.quotas().get(0);
    }

    Quota peek(Limit limit) {
        return peek(limit, 1);
    }

    Quota peek(Limit limit, long cost) {
        List<Quota> quotas = backend.peek(charge(cost, limit));
        assertThat(quotas).hasSize(1);
        return quotas.get(0);
    }

    long remaining(Limit limit) {
        return peek(limit).remaining();
    }

    void refund(Limit limit, long cost) {
        backend.refund(charge(cost, limit));
    }

    void reset(Limit limit) {
        backend.reset(policy(limit), storedKey);
    }
}
