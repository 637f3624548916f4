// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingLogState;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/** Equal requests of a batch that follow each other: one part of the script call, with a count. */
final class RequestGroup {
    private final List<AcquireRequest> requests = new ArrayList<>(1);
    private final int[] keyIndexes;

    /** Creates a group of one request, whose keys have these indexes in the batch. */
    RequestGroup(AcquireRequest first, int[] keyIndexes) {
        this.requests.add(first);
        this.keyIndexes = keyIndexes;
    }

    void add(AcquireRequest equal) {
        requests.add(equal);
    }

    AcquireRequest first() {
        return requests.get(0);
    }

    int size() {
        return requests.size();
    }

    /** Returns the number of keys of one request. */
    int keyCount() {
        return keyIndexes.length;
    }

    /** Returns the index in the batch of the n-th key of a request. */
    int keyIndex(int n) {
        return keyIndexes[n];
    }

    /** Returns whether the script spends the requests that have room. */
    boolean spends() {
        return first().operation != AcquireRequest.Operation.PEEK;
    }

    void fail(BackendException failure) {
        for (int i = 0; i < requests.size(); i++) {
            requests.get(i).completeExceptionally(failure);
        }
    }

    /**
     * Completes the requests: the first ones as spent, as many as had room, the others not.
     *
     * @param reply the reply of the script
     * @param states the states of each key of the batch, in which the requests are spent as the script spent them
     * @param time the instant of the script
     */
    void complete(BatchReply.GroupReply reply, LimitState[][] states, RedisTime time) {
        int spent = spends() ? reply.allowed() : 0;
        for (int i = 0; i < spent; i++) {
            requests.get(i).complete(spend(states, time));
        }
        if (spent < requests.size()) {
            AcquireResult rest =
                    new AcquireResult(unspent(reply, states, time), reply.allowed() > spent, false, 0, time);
            for (int i = spent; i < requests.size(); i++) {
                requests.get(i).complete(rest);
            }
        }
    }

    private AcquireResult spend(LimitState[][] states, RedisTime time) {
        List<Charge> charges = first().charges;
        ChargeStates[] spent = new ChargeStates[charges.size()];
        long wait = 0;
        for (int i = 0; i < spent.length; i++) {
            Charge charge = charges.get(i);
            List<Limit> limits = charge.policy().limits();
            LimitState[] after = new LimitState[limits.size()];
            for (int j = 0; j < after.length; j++) {
                Limit limit = limits.get(j);
                LimitState before = states[keyIndexes[i]][j];
                if (charge.maxWaitMicros() > 0) {
                    wait = Math.max(wait, before.retryAfterMicros(limit, charge.cost(), time.micros()));
                }
                after[j] = before.spend(limit, charge.cost(), time.micros());
            }
            states[keyIndexes[i]] = after;
            spent[i] = new ChargeStates(charge, List.of(after));
        }
        return new AcquireResult(List.of(spent), true, true, wait, time);
    }

    private List<ChargeStates> unspent(BatchReply.GroupReply reply, LimitState[][] states, RedisTime time) {
        List<Charge> charges = first().charges;
        ChargeStates[] unspent = new ChargeStates[charges.size()];
        int log = 0;
        for (int i = 0; i < unspent.length; i++) {
            Charge charge = charges.get(i);
            List<Limit> limits = charge.policy().limits();
            LimitState[] before = new LimitState[limits.size()];
            for (int j = 0; j < before.length; j++) {
                before[j] = states[keyIndexes[i]][j];
                if (before[j] instanceof SlidingLogState state) {
                    before[j] = withAwaitedEntry(
                            state,
                            limits.get(j),
                            charge.cost(),
                            reply.awaitedEntriesMicros().get(log),
                            time.micros());
                    log++;
                }
                if (!reply.blockEndsMicros().isEmpty()) {
                    long blockEnd = reply.blockEndsMicros().get(i);
                    before[j] = BlockedState.of(before[j], blockEnd, time.micros());
                }
            }
            unspent[i] = new ChargeStates(charge, List.of(before));
        }
        return List.of(unspent);
    }

    /** Adds to the summary of a log the entry at whose end there is room for a cost, if there is none now. */
    private static LimitState withAwaitedEntry(
            SlidingLogState log, Limit limit, long cost, long entryMicros, long nowMicros) {
        long missing = log.spent() + cost - limit.permits();
        if (missing <= 0) {
            return log;
        }
        long nextPermitAfter = log.retryAfterMicros(limit, log.remaining(limit, nowMicros) + 1, nowMicros);
        return SlidingLogState.summary(
                limit,
                log.spent(),
                nowMicros + nextPermitAfter - limit.windowMicros(),
                log.newestMicros(),
                missing,
                entryMicros);
    }
}
