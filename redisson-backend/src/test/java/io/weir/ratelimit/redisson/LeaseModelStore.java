// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One key of a Redis as the scripts keep it, by the arithmetic of {@link LimitState}. */
final class LeaseModelStore {
    private static final long EPOCH = 1_763_638_242_000_000L;

    private final ModelTime time;
    private final Map<Duration, LimitState> stored = new HashMap<>();

    LeaseModelStore(ModelTime time) {
        this.time = time;
    }

    long now() {
        return EPOCH + time.micros();
    }

    /** The state of a limit as it is now. */
    LimitState state(Limit limit) {
        LimitState state = stored.get(limit.window());
        return state == null ? LimitState.untouched(limit, now()) : state.at(limit, now());
    }

    /** Charges if there is room. */
    Answer decide(Charge charge, long sentNanos) {
        List<LimitState> states = new ArrayList<>();
        boolean room = true;
        for (Limit limit : charge.policy().limits()) {
            room &= state(limit).fits(limit, charge.cost(), now());
        }
        for (Limit limit : charge.policy().limits()) {
            LimitState state = state(limit);
            states.add(room ? state.spend(limit, charge.cost(), now()) : state);
            if (room) {
                stored.put(limit.window(), states.get(states.size() - 1));
            }
        }
        return new Answer(states, room, room, 0, now(), sentNanos, 0);
    }

    void giveBack(GiveBack what) {
        giveBack(what.charges().get(0), what.states());
    }

    void giveBack(BackendReceipt receipt) {
        receipt.use().forEach(entry -> giveBack(entry.charge(), entry.states()));
    }

    private void giveBack(Charge charge, List<LimitState> states) {
        for (int i = 0; i < states.size(); i++) {
            Limit limit = charge.policy().limits().get(i);
            LimitState before = stored.get(limit.window());
            if (before != null) {
                put(limit, before.giveBack(limit, states.get(i), charge.cost(), now()));
            }
        }
    }

    /** Gives back a cost of which there is no receipt. */
    void giveBackCost(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            put(limit, state(limit).giveBack(limit, charge.cost()));
        }
    }

    /** Brings what is stored to now, as a charge by these limits does. */
    void touch(PolicyLimits policy) {
        policy.limits().forEach(limit -> put(limit, state(limit)));
    }

    private void put(Limit limit, LimitState state) {
        if (isNothing(state)) {
            stored.remove(limit.window());
        } else {
            stored.put(limit.window(), state);
        }
    }

    private static boolean isNothing(LimitState state) {
        if (state instanceof SlidingWindowState window) {
            return window.current() == 0 && window.previous() == 0;
        }
        return state instanceof FixedWindowState window ? window.spent() == 0 : ((TokenBucketState) state).debt() == 0;
    }

    void reset() {
        stored.clear();
    }
}
