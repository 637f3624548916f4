// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What all instances admit, less what is given back, each receipt once. In a window it is never more than the store has charged, nor
 * than the limit. Of a bucket it is, in no span, more than the burst and what returns in that span.
 */
final class LeaseBook {
    private final LeaseModelStore store;
    private final String title;

    /** By limit and start of the window. */
    private final Map<Duration, Map<Long, Long>> windows = new HashMap<>();

    private final Map<Duration, Bucket> buckets = new HashMap<>();
    private List<PolicyLimits> inForce;

    LeaseBook(LeaseModelStore store, String title, PolicyLimits policy) {
        this.store = store;
        this.title = title;
        this.inForce = List.of(policy);
    }

    /** The most by which a span that ends now exceeds what returns in it: the debt of a bucket that is charged when calls are admitted. */
    private static final class Bucket {
        private double debt;
        private long atMicros;
    }

    /** Begins anew, with limits any of which may be an instance's. */
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

    void admitted(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            LimitState state = store.state(limit);
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

    /** Both count in whole units of time, so that they may differ by what returns in one. */
    private static double unit(Limit limit) {
        return 1e-6 + (double) limit.permits() * limit.unitMicros() / limit.windowMicros();
    }

    private Bucket now(Limit limit) {
        Bucket bucket = buckets.computeIfAbsent(limit.window(), window -> new Bucket());
        double fastest = most(limit, Limit::permits);
        bucket.debt = Math.max(0, bucket.debt - (store.now() - bucket.atMicros) * fastest / limit.windowMicros());
        bucket.atMicros = store.now();
        return bucket;
    }

    private void check(Limit limit, LimitState state) {
        assertThat(of(limit).get(start(state))).as(title).isLessThanOrEqualTo(most(limit));
        // What instances still hold under other limits than these is not the store's to count by these.
        if (inForce.size() > 1) {
            return;
        }
        if (state instanceof SlidingWindowState window) {
            assertThat(admitted(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.current());
            assertThat(admitted(limit, window.startMicros() - limit.windowMicros()))
                    .as(title)
                    .isLessThanOrEqualTo(window.previous());
        } else if (state instanceof FixedWindowState window) {
            assertThat(admitted(limit, window.startMicros())).as(title).isLessThanOrEqualTo(window.spent());
        }
    }

    private Map<Long, Long> of(Limit limit) {
        return windows.computeIfAbsent(limit.window(), window -> new HashMap<>());
    }

    long admitted(Limit limit, long start) {
        return of(limit).getOrDefault(start, 0L);
    }

    /** A charge with these states after it is given back. */
    void givenBack(Charge charge, List<LimitState> states) {
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
     * Lets the store give back a cost, of which so much counts as it takes off.
     *
     * @param alone whether nobody holds permits, so that it takes off no more of a window than was admitted; a bucket may still be
     *     charged with permits that have faded
     */
    void giveBackCost(Charge charge, boolean alone) {
        List<Limit> limits = charge.policy().limits();
        List<LimitState> before = limits.stream().map(store::state).toList();
        store.giveBackCost(charge);
        for (int i = 0; i < before.size(); i++) {
            Limit limit = limits.get(i);
            LimitState after = store.state(limit);
            if (before.get(i) instanceof TokenBucketState bucket) {
                double less = (double) (bucket.debt() - ((TokenBucketState) after).debt()) / limit.windowUnits();
                Bucket mine = now(limit);
                mine.debt = Math.max(0, mine.debt - less);
            } else {
                long start = start(before.get(i));
                takeOff(limit, start, current(before.get(i)) - (start(after) == start ? current(after) : 0), alone);
                takeOff(limit, start - limit.windowMicros(), previous(before.get(i)) - previous(after), alone);
            }
        }
    }

    private void takeOff(Limit limit, long start, long permits, boolean alone) {
        of(limit).merge(start, -permits, Long::sum);
        assertThat(!alone || admitted(limit, start) >= 0)
                .as(title + ": " + permits + " are given back, " + admitted(limit, start) + " is left")
                .isTrue();
    }

    /** Whether a window is charged exactly what was admitted in it, now that nobody holds anything; false of what is no window. */
    boolean isSettled(Limit limit) {
        LimitState state = store.state(limit);
        if (state instanceof TokenBucketState || current(state) == 0) {
            return false;
        }
        assertThat(current(state)).as(title).isEqualTo(admitted(limit, start(state)));
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
