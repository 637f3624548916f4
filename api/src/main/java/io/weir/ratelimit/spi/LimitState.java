// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * What a store keeps for one key of one limit, with the arithmetic of the algorithm. Immutable. The state holds no limit, so a
 * changed limit applies from the next call: what was spent beyond the new limit counts as having spent all of it, and in a log
 * as it is.
 *
 * <p>Methods expect the state of the instant they are asked about, as {@link #at} gives it, unless they say otherwise.
 */
public sealed interface LimitState permits FixedWindowState, SlidingWindowState, SlidingLogState, TokenBucketState {

    /**
     * The state of a key that was never charged.
     *
     * @param limit the limit
     * @param nowMicros the time now
     * @return the state
     */
    static LimitState untouched(Limit limit, long nowMicros) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(nowMicros, 0);
            case SLIDING_WINDOW -> new SlidingWindowState(nowMicros, 0, 0);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(nowMicros, 0, limit.unitExponent());
            case SLIDING_LOG -> SlidingLogState.EMPTY;
        };
    }

    /**
     * This state as it is at an instant: windows that have passed are gone, permits have returned. A state from the future,
     * left behind by a clock that stepped back, is taken as of now.
     *
     * @param limit the limit
     * @param nowMicros the instant
     * @return the state
     */
    LimitState at(Limit limit, long nowMicros);

    /**
     * Whether this state, as it is stored, is from the future: the clock has stepped back. A store keeps the state as of now
     * instead, also when it refuses, so that the wait it tells passes.
     *
     * @param nowMicros the instant
     * @return true if it is
     */
    boolean isAfter(long nowMicros);

    /**
     * Whether a cost can be spent.
     *
     * @param limit the limit
     * @param cost permits, 1 or more
     * @param nowMicros the instant
     * @return true if there is room
     */
    boolean fits(Limit limit, long cost, long nowMicros);

    /**
     * Whether a call is admitted that is ready to wait: there is room, or a bucket has a slot for it within its patience. How far
     * away the slot is, {@link #waitMicros} tells before the cost is spent.
     *
     * @param limit the limit
     * @param cost permits, 1 or more
     * @param patienceMicros how long the call is ready to wait, 0 or more; no more than {@link Limit#maxWait()} of it counts
     * @param nowMicros the instant
     * @return true if it is
     */
    default boolean admits(Limit limit, long cost, long patienceMicros, long nowMicros) {
        return waitMicros(limit, cost, nowMicros) <= limit.slotWithinMicros(patienceMicros);
    }

    /**
     * The state after a cost was spent.
     *
     * @param limit the limit
     * @param cost permits for which there is room, now or within the call's patience
     * @param nowMicros the instant
     * @return the state
     */
    LimitState spend(Limit limit, long cost, long nowMicros);

    /**
     * Permits that can be spent.
     *
     * @param limit the limit
     * @param nowMicros the instant
     * @return 0 or more
     */
    long remaining(Limit limit, long nowMicros);

    /**
     * The least wait after which a cost fits if nobody else spends.
     *
     * @param limit the limit
     * @param cost permits, 1 or more
     * @param nowMicros the instant
     * @return microseconds, 0 if it fits now, {@link io.weir.ratelimit.Quota#NEVER} if no wait helps
     */
    long waitMicros(Limit limit, long cost, long nowMicros);

    /**
     * The time until this state equals an untouched one.
     *
     * @param limit the limit
     * @param nowMicros the instant
     * @return microseconds, 0 if it does now
     */
    long resetMicros(Limit limit, long nowMicros);

    /**
     * The state after a charge was given back, as far as it still counts. Asked of the state as it is stored: the limit of the
     * charge need not be the one that applies now.
     *
     * @param limit the limit that was charged
     * @param charged the state right after the charge
     * @param cost the charge
     * @param nowMicros the instant
     * @return the state; this one if the charge's window has passed
     */
    LimitState giveBack(Limit limit, LimitState charged, long cost, long nowMicros);

    /**
     * The state with permits given back that were spent at an unknown time.
     *
     * @param limit the limit
     * @param cost permits, 1 or more
     * @return the state
     */
    LimitState giveBack(Limit limit, long cost);
}
