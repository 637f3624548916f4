// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.UUID;

/** One identity at one backend, under a policy called {@code api}, with words for what tests do to it. */
record TestKey(RateLimitBackend backend, String identity) {

    /** A key that no other test, and no earlier run of this one, has used. */
    static TestKey fresh(RateLimitBackend backend) {
        return new TestKey(backend, "k." + UUID.randomUUID());
    }

    static PolicyLimits policy(Limit... limits) {
        return new PolicyLimits("api", List.of(limits));
    }

    Charge charge(long cost, Limit... limits) {
        return new Charge(policy(limits), identity, cost);
    }

    Charge patient(long patienceMicros, long cost, Limit... limits) {
        return new Charge(policy(limits), identity, cost, patienceMicros);
    }

    Decision acquire(Limit limit, long cost) {
        return backend.acquire(List.of(charge(cost, limit)));
    }

    /** Asks for as long a wait as the limit allows. */
    Decision queue(Limit limit, long cost) {
        return backend.acquire(List.of(patient(limit.maxWait().toMillis() * 1_000, cost, limit)));
    }

    /** The wait of a call that is ready to wait as long as the limit allows; fails the test if it is refused. */
    long slot(Limit limit, long cost) {
        Decision decision = queue(limit, cost);
        assertThat(decision).as("%d of %s", cost, limit).isInstanceOf(Decision.Allowed.class);
        return ((Decision.Allowed) decision).waitMicros();
    }

    /** Spends, and fails the test if there is no room. */
    Decision.Allowed spend(Limit limit, long cost) {
        Decision decision = acquire(limit, cost);
        assertThat(decision).as("%d of %s", cost, limit).isInstanceOf(Decision.Allowed.class);
        return (Decision.Allowed) decision;
    }

    /** What the limit says when it refuses; fails the test if it does not. */
    Quota refusal(Limit limit, long cost) {
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

    void giveBack(Limit limit, long cost) {
        backend.giveBack(charge(cost, limit));
    }

    void reset(Limit limit) {
        backend.reset(policy(limit), identity);
    }
}
