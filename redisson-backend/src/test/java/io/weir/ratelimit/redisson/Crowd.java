// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Callers of a store who ask again as soon as they are answered, on keys of their own: so many checks are always under way. */
final class Crowd {
    private static final int KEYS = 5;

    private final RateLimitBackend backend;
    private final CountDownLatch home;
    private final AtomicLong decided = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean leaving;

    private Crowd(RateLimitBackend backend, int members) {
        this.backend = backend;
        this.home = new CountDownLatch(members);
    }

    static Crowd around(RateLimitBackend backend, int members) {
        Crowd crowd = new Crowd(backend, members);
        for (int member = 0; member < members; member++) {
            crowd.ask(List.of(charge(member)));
        }
        return crowd;
    }

    private static Charge charge(int member) {
        int key = member % KEYS;
        Algorithm algorithm = Algorithm.values()[key % Algorithm.values().length];
        Limit limit = TestStore.limitOf(algorithm, 5 + key, Duration.ofMillis(50 + key));
        return new Charge(new PolicyLimits("crowd", List.of(limit)), "crowd." + key, 1);
    }

    private void ask(List<Charge> charges) {
        backend.acquireAsync(charges).whenComplete((decision, thrown) -> answered(charges, decision, thrown));
    }

    private void answered(List<Charge> charges, Decision decision, Throwable thrown) {
        if (thrown != null) {
            failure.compareAndSet(null, thrown);
        }
        decided.incrementAndGet();
        if (leaving || thrown != null || decision == null) {
            home.countDown();
        } else {
            ask(charges);
        }
    }

    /** Ends it, and answers with how many decisions it got. None may have failed. */
    long sentHome() throws InterruptedException {
        leaving = true;
        if (!home.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError(home.getCount() + " checks were never answered");
        }
        if (failure.get() != null) {
            throw new AssertionError("a check of the crowd failed", failure.get());
        }
        return decided.get();
    }
}
