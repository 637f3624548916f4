// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A model of one key in Redis, by the arithmetic of {@link LimitState}. */
final class LeaseModelBackend {
    private static final long EPOCH = 1_763_638_242_000_000L;

    private final ModelTime time;
    private final Map<Duration, LimitState> stored = new HashMap<>();

    LeaseModelBackend(ModelTime time) {
        this.time = time;
    }

    long now() {
        return EPOCH + time.micros();
    }

    /** Returns the current state of a limit. */
    LimitState state(Limit limit) {
        LimitState state = stored.get(limit.window());
        return state == null ? LimitState.untouched(limit, now()) : state.asOf(limit, now());
    }

    /** Spends a charge if there is room. */
    AcquireResult decide(Charge charge, long sentNanos) {
        List<LimitState> states = new ArrayList<>();
        boolean room = true;
        for (Limit limit : charge.policy().limits()) {
            room &= state(limit).hasRoom(limit, charge.cost(), now());
        }
        for (Limit limit : charge.policy().limits()) {
            LimitState state = state(limit);
            states.add(room ? state.spend(limit, charge.cost(), now()) : state);
            if (room) {
                stored.put(limit.window(), states.get(states.size() - 1));
            }
        }
        return new AcquireResult(
                List.of(new ChargeStates(charge, states)), room, room, 0, new RedisTime(now(), sentNanos, 0));
    }

    void refund(Refund refund) {
        refund.receipt().forEach(charged -> refund(charged.charge(), charged.states()));
    }

    void refund(BackendReceipt receipt) {
        receipt.claim().forEach(entry -> refund(entry.charge(), entry.states()));
    }

    private void refund(Charge charge, List<LimitState> states) {
        for (int i = 0; i < states.size(); i++) {
            Limit limit = charge.policy().limits().get(i);
            LimitState before = stored.get(limit.window());
            if (before != null) {
                put(limit, before.refund(limit, states.get(i), charge.cost(), now()));
            }
        }
    }

    /** Refunds a cost without a receipt. */
    void refundCost(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            put(limit, state(limit).refund(limit, charge.cost()));
        }
    }

    /** Replaces the stored states by the current ones, as a charge does. */
    void touch(PolicyLimits policy) {
        policy.limits().forEach(limit -> put(limit, state(limit)));
    }

    private void put(Limit limit, LimitState state) {
        if (isUntouched(state)) {
            stored.remove(limit.window());
        } else {
            stored.put(limit.window(), state);
        }
    }

    private static boolean isUntouched(LimitState state) {
        if (state instanceof SlidingWindowState window) {
            return window.current() == 0 && window.previous() == 0;
        }
        return state instanceof FixedWindowState window ? window.spent() == 0 : ((TokenBucketState) state).debt() == 0;
    }

    void reset() {
        stored.clear();
    }
}
