// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import java.time.Duration;

/** The state of a limit of a blocked key, until an end in microseconds of the backend's clock. It has no room, whatever the limit. */
public record BlockedState(LimitState state, long endMicros) implements LimitState {
    /**
     * Returns the length of a block in microseconds, 1 or more.
     *
     * @throws IllegalArgumentException if it is not more than zero and at most {@link BlocksKeys#MAX_BLOCK}
     */
    public static long micros(Duration duration) {
        checkRange(duration);
        return (duration.toNanos() + 999) / 1_000;
    }

    /** Throws an {@link IllegalArgumentException} if a block is not longer than zero and at most {@link BlocksKeys#MAX_BLOCK}. */
    public static void checkRange(Duration duration) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(BlocksKeys.MAX_BLOCK) > 0) {
            throw new IllegalArgumentException("a block is longer than zero and at most "
                    + BlocksKeys.MAX_BLOCK.toDays() + " days, not " + duration);
        }
    }

    /** Returns the microseconds of a block that is a penalty, after a number of earlier penalties that are not forgotten. */
    public static long micros(PenaltyRule rule, int earlier) {
        long length = rule.firstMicros();
        for (int i = 0; i < earlier && rule.factor() > 1 && length < rule.longestMicros(); i++) {
            length *= rule.factor();
        }
        return Math.min(length, rule.longestMicros());
    }

    @Override
    public LimitState asOf(Limit limit, long nowMicros) {
        return LimitState.blocked(state.asOf(limit, nowMicros), endMicros, nowMicros);
    }

    @Override
    public boolean isBlocked() {
        return true;
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return state.isAfter(nowMicros);
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return false;
    }

    @Override
    public LimitState spend(Limit limit, long cost, long nowMicros) {
        throw new IllegalStateException("a blocked key spends nothing");
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return 0;
    }

    /** Returns {@link Micros#NEVER}: no max-wait lets a call spend ahead of the end. {@link #quota} has the retry-after. */
    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        return Micros.NEVER;
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return Math.max(state.resetAfterMicros(limit, nowMicros), endMicros - nowMicros);
    }

    @Override
    public LimitState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        return new BlockedState(state.refund(limit, charged, cost, nowMicros), endMicros);
    }

    @Override
    public LimitState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        return new BlockedState(state.raise(limit, charged, more, nowMicros), endMicros);
    }

    @Override
    public LimitState refund(Limit limit, long cost) {
        return new BlockedState(state.refund(limit, cost), endMicros);
    }

    /** Returns the quota of a blocked key. The limit and the block are waited for at the same time. */
    @Override
    public Quota quota(Charge charge, int index, boolean spent, long nowMicros) {
        Quota quota = state.quota(charge, index, false, nowMicros);
        long blocked = endMicros - nowMicros;
        long untilPermit = quota.remaining() > 0 ? 0 : Micros.nextPermitAfter(quota);
        long nextPermit = quota.capacity() == 0 ? 0 : Math.max(untilPermit, blocked);
        return Micros.rejectedFor(quota.toBuilder(), Math.max(Micros.retryAfter(quota), blocked))
                .remaining(0)
                .resetAfter(Micros.duration(Math.max(Micros.resetAfter(quota), blocked)))
                .nextPermitAfter(Micros.duration(nextPermit))
                .blockedFor(Micros.duration(blocked))
                .build();
    }
}
