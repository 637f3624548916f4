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

/** Callers that call again as soon as they have a decision, on keys of their own, so that requests are always in flight. */
final class Crowd {
    private static final int KEYS = 5;

    private final RateLimitBackend backend;
    private final CountDownLatch stopped;
    private final AtomicLong decided = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean stopping;

    private Crowd(RateLimitBackend backend, int callers) {
        this.backend = backend;
        this.stopped = new CountDownLatch(callers);
    }

    static Crowd on(RateLimitBackend backend, int callers) {
        Crowd crowd = new Crowd(backend, callers);
        for (int caller = 0; caller < callers; caller++) {
            crowd.call(List.of(charge(caller)));
        }
        return crowd;
    }

    private static Charge charge(int caller) {
        int key = caller % KEYS;
        Algorithm algorithm = Algorithm.values()[key % Algorithm.values().length];
        Limit limit = TestBackend.limitOf(algorithm, 5 + key, Duration.ofMillis(50 + key));
        return new Charge(new PolicyLimits("crowd", List.of(limit)), "crowd." + key, 1);
    }

    private void call(List<Charge> charges) {
        backend.acquireAsync(charges).whenComplete((decision, thrown) -> decided(charges, decision, thrown));
    }

    private void decided(List<Charge> charges, Decision decision, Throwable thrown) {
        if (thrown != null) {
            failure.compareAndSet(null, thrown);
        }
        decided.incrementAndGet();
        if (stopping || thrown != null || decision == null) {
            stopped.countDown();
        } else {
            call(charges);
        }
    }

    /** Stops the callers, and returns the number of decisions. None may have failed. */
    long stop() throws InterruptedException {
        stopping = true;
        if (!stopped.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError(stopped.getCount() + " calls were never completed");
        }
        if (failure.get() != null) {
            throw new AssertionError("a call of the crowd failed", failure.get());
        }
        return decided.get();
    }
}
