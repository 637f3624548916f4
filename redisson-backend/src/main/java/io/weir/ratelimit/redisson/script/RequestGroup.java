// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Equal requests of a batch that follow each other: one part of the script call, with a count. */
public final class RequestGroup {
    private final List<AcquireRequest> requests = new ArrayList<>(1);

    /** For each charge the number of the first slot that Redis can give to a request; null without concurrency limits. */
    private long @Nullable [] slotNumbers;

    RequestGroup(AcquireRequest first) {
        this.requests.add(first);
    }

    void add(AcquireRequest equal) {
        requests.add(equal);
    }

    public AcquireRequest first() {
        return requests.get(0);
    }

    int size() {
        return requests.size();
    }

    /** Returns whether the script spends the requests that have room. */
    boolean spends() {
        return first().operation != AcquireRequest.Operation.PEEK;
    }

    /** Returns whether a charge has a sliding log. */
    boolean hasLog() {
        List<Charge> charges = first().charges;
        for (int i = 0; i < charges.size(); i++) {
            List<Limit> limits = charges.get(i).policy().limits();
            for (int j = 0; j < limits.size(); j++) {
                if (limits.get(j).uses(Algorithm.SLIDING_LOG)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether one description stands for both groups in a message. Slots of different groups have different numbers. */
    boolean differsInKeysOnly(RequestGroup other) {
        List<Charge> charges = first().charges;
        List<Charge> others = other.first().charges;
        if (size() != other.size() || spends() != other.spends() || charges.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < charges.size(); i++) {
            Charge one = charges.get(i);
            Charge two = others.get(i);
            if (one.cost() != two.cost()
                    || one.maxWaitMicros() != two.maxWaitMicros()
                    || one.policy().hasConcurrency()
                    || !one.policy().limits().equals(two.policy().limits())) {
                return false;
            }
        }
        return true;
    }

    /** Takes the numbers of the slots of a charge, one per request, for the message that is about to be sent. */
    long takeSlotNumbers(int charge) {
        long[] numbers = slotNumbers;
        if (numbers == null) {
            numbers = new long[first().charges.size()];
            slotNumbers = numbers;
        }
        numbers[charge] = SlotCodec.nextNumbers(size());
        return numbers[charge];
    }

    /** Returns the number of the first slot that Redis may have given to the requests for a charge; 0 if it gives none. */
    long slotNumber(int charge) {
        long[] numbers = slotNumbers;
        return numbers == null || !spends() ? 0 : numbers[charge];
    }

    void fail(BackendException failure) {
        for (int i = 0; i < requests.size(); i++) {
            requests.get(i).completeExceptionally(failure);
        }
    }

    /** Completes the requests as spent, as many as had room, the others not. The states of the reply are those as the script spent them. */
    void complete(BatchReply.GroupReply reply, RedisTime time) {
        int spent = spends() ? reply.allowed() : 0;
        for (int i = 0; i < spent; i++) {
            requests.get(i).complete(spend(reply.states(), time));
        }
        if (spent < requests.size()) {
            AcquireResult rest = new AcquireResult(unspent(reply, time), reply.allowed() > spent, false, 0, time);
            for (int i = spent; i < requests.size(); i++) {
                requests.get(i).complete(rest);
            }
        }
    }

    private AcquireResult spend(List<LimitState[]> states, RedisTime time) {
        List<Charge> charges = first().charges;
        ChargeStates[] spent = new ChargeStates[charges.size()];
        long wait = 0;
        for (int i = 0; i < spent.length; i++) {
            Charge charge = charges.get(i);
            List<Limit> limits = charge.policy().limits();
            LimitState[] after = new LimitState[limits.size()];
            for (int j = 0; j < after.length; j++) {
                Limit limit = limits.get(j);
                LimitState before = states.get(i)[j];
                if (charge.maxWaitMicros() > 0) {
                    wait = Math.max(wait, before.retryAfterMicros(limit, charge.cost(), time.micros()));
                }
                after[j] = before.spend(limit, charge.cost(), time.micros());
            }
            states.set(i, after);
            spent[i] = new ChargeStates(charge, List.of(after));
        }
        return new AcquireResult(List.of(spent), true, true, wait, time);
    }

    private List<ChargeStates> unspent(BatchReply.GroupReply reply, RedisTime time) {
        List<Charge> charges = first().charges;
        ChargeStates[] unspent = new ChargeStates[charges.size()];
        int log = 0;
        for (int i = 0; i < unspent.length; i++) {
            Charge charge = charges.get(i);
            List<Limit> limits = charge.policy().limits();
            LimitState[] before = new LimitState[limits.size()];
            for (int j = 0; j < before.length; j++) {
                before[j] = reply.states().get(i)[j];
                if (StoredStates.isLog(before[j])) {
                    before[j] = StoredStates.logAwaiting(
                            before[j],
                            limits.get(j),
                            charge.cost(),
                            reply.awaitedEntriesMicros().get(log),
                            time.micros());
                    log++;
                }
                if (!reply.blockEndsMicros().isEmpty()) {
                    long blockEnd = reply.blockEndsMicros().get(i);
                    before[j] = LimitState.blocked(before[j], blockEnd, time.micros());
                }
            }
            unspent[i] = new ChargeStates(charge, List.of(before));
        }
        return List.of(unspent);
    }
}
