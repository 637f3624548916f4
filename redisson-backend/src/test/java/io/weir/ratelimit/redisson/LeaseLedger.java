// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * A ledger of the calls that all instances allow, minus refunds, with each receipt once. The calls of a window never exceed its charges
 * or the limit. The calls of a bucket in a time span never exceed the burst and the permits that return in that span.
 */
final class LeaseLedger {
    private final LeaseModelBackend backend;
    private final String title;

    /** Permits by window length and start of the window. */
    private final Map<Duration, Map<Long, Long>> windows = new HashMap<>();

    private final Map<Duration, Bucket> buckets = new HashMap<>();
    private List<PolicyLimits> inForce;

    LeaseLedger(LeaseModelBackend backend, String title, PolicyLimits policy) {
        this.backend = backend;
        this.title = title;
        this.inForce = List.of(policy);
    }

    /** The debt of a bucket that is charged at the instant at which calls are allowed. */
    private static final class Bucket {
        private double debt;
        private long atMicros;
    }

    /** Starts again, with policies that may be in force on some of the instances. */
    void beginUnder(List<PolicyLimits> policies) {
        inForce = policies;
        windows.clear();
        buckets.clear();
    }

    private long most(Limit like, ToLongFunction<Limit> of) {
        long most = 0;
        for (PolicyLimits policy : inForce) {
            for (Limit limit : policy.limits()) {
                most = limit.window().equals(like.window()) ? Math.max(most, of.applyAsLong(limit)) : most;
            }
        }
        return most;
    }

    void allowed(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            LimitState state = backend.state(limit);
            if (state instanceof TokenBucketState) {
                Bucket bucket = now(limit);
                bucket.debt += charge.cost();
                assertThat(bucket.debt)
                        .as(() -> title + " under " + limit)
                        .isLessThanOrEqualTo(most(limit) + unit(limit));
            } else {
                of(limit).merge(start(state), charge.cost(), Long::sum);
                check(limit, state);
            }
        }
    }

    private long most(Limit like) {
        return most(like, Limit::capacity);
    }

    /** Returns the permits of one unit of time. Ledger and backend count in whole units, so that they can differ by one. */
    private static double unit(Limit limit) {
        return 1e-6 + (double) limit.permits() * limit.unitMicros() / limit.windowMicros();
    }

    private Bucket now(Limit limit) {
        Bucket bucket = buckets.computeIfAbsent(limit.window(), window -> new Bucket());
        double fastest = most(limit, Limit::permits);
        bucket.debt = Math.max(0, bucket.debt - (backend.now() - bucket.atMicros) * fastest / limit.windowMicros());
        bucket.atMicros = backend.now();
        return bucket;
    }

    private void check(Limit limit, LimitState state) {
        assertThat(of(limit).get(start(state))).as(title).isLessThanOrEqualTo(most(limit));
        // The backend does not count permits that instances hold under other limits.
        if (inForce.size() > 1) {
            return;
        }
        if (state instanceof SlidingWindowState window) {
            assertThat(allowed(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.current());
            assertThat(allowed(limit, window.startMicros() - limit.windowMicros()))
                    .as(title)
                    .isLessThanOrEqualTo(window.previous());
        } else if (state instanceof FixedWindowState window) {
            assertThat(allowed(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.spent());
        }
    }

    private Map<Long, Long> of(Limit limit) {
        return windows.computeIfAbsent(limit.window(), window -> new HashMap<>());
    }

    long allowed(Limit limit, long start) {
        return of(limit).getOrDefault(start, 0L);
    }

    /** Records the refund of a charge, with the states after the charge. */
    void refunded(Charge charge, List<LimitState> states) {
        for (int i = 0; i < states.size(); i++) {
            Limit limit = charge.policy().limits().get(i);
            if (states.get(i) instanceof TokenBucketState) {
                Bucket bucket = now(limit);
                bucket.debt = Math.max(0, bucket.debt - charge.cost());
            } else {
                of(limit).computeIfPresent(start(states.get(i)), (start, all) -> all - charge.cost());
            }
        }
    }

    /**
     * Refunds a cost in the backend, and records as much of it as the backend has refunded.
     *
     * @param alone whether no instance holds permits, so that the refund of a window does not exceed the allowed calls; a bucket may be
     *     charged with permits of a grant that have expired
     */
    void refundCost(Charge charge, boolean alone) {
        List<Limit> limits = charge.policy().limits();
        List<LimitState> before = limits.stream().map(backend::state).toList();
        backend.refundCost(charge);
        for (int i = 0; i < before.size(); i++) {
            Limit limit = limits.get(i);
            LimitState after = backend.state(limit);
            if (before.get(i) instanceof TokenBucketState bucket) {
                double less = (double) (bucket.debt() - ((TokenBucketState) after).debt()) / limit.windowUnits();
                Bucket mine = now(limit);
                mine.debt = Math.max(0, mine.debt - less);
            } else {
                long start = start(before.get(i));
                subtract(limit, start, current(before.get(i)) - (start(after) == start ? current(after) : 0), alone);
                subtract(limit, start - limit.windowMicros(), previous(before.get(i)) - previous(after), alone);
            }
        }
    }

    private void subtract(Limit limit, long start, long permits, boolean alone) {
        of(limit).merge(start, -permits, Long::sum);
        assertThat(!alone || allowed(limit, start) >= 0)
                .as(title + ": " + permits + " are refunded, " + allowed(limit, start) + " is left")
                .isTrue();
    }

    /** Checks that a window is charged exactly with the calls that it allowed; false if the limit has no window, or an untouched one. */
    boolean isSettled(Limit limit) {
        LimitState state = backend.state(limit);
        if (state instanceof TokenBucketState || current(state) == 0) {
            return false;
        }
        assertThat(current(state)).as(title).isEqualTo(allowed(limit, start(state)));
        return true;
    }

    private static long current(LimitState window) {
        return window instanceof SlidingWindowState sliding ? sliding.current() : ((FixedWindowState) window).spent();
    }

    private static long previous(LimitState window) {
        return window instanceof SlidingWindowState sliding ? sliding.previous() : 0;
    }

    private static long start(LimitState window) {
        return window instanceof SlidingWindowState sliding
                ? sliding.startMicros()
                : ((FixedWindowState) window).startMicros();
    }
}
