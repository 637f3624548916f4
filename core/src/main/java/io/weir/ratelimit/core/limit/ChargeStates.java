// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A charge with the state of each limit of its policy, in order, at one instant, such as right after the charge was spent. */
public record ChargeStates(Charge charge, List<LimitState> states) {
    /** Copies the list and checks its size. */
    public ChargeStates {
        states = List.copyOf(states);
        if (states.size() != charge.policy().limits().size()) {
            throw new IllegalArgumentException(charge + " needs one state per limit, not " + states.size());
        }
    }

    /** Returns the number of the slot that the charge has taken, 1 or more. */
    public long slot() {
        return states.get(charge.policy().concurrencyIndex()).taken();
    }

    /** Returns this charge as if its cost had been the actual cost, one permit or more, for a refund after a settlement. */
    ChargeStates chargedWith(long actualCost) {
        List<Limit> limits = charge.policy().limits();
        List<LimitState> charged = new ArrayList<>(states.size());
        for (int i = 0; i < limits.size(); i++) {
            charged.add(states.get(i).chargedWith(limits.get(i), charge.cost(), actualCost));
        }
        Charge actual =
                new Charge(charge.policy(), charge.storedKey(), actualCost, charge.maxWaitMicros(), charge.shadow());
        return new ChargeStates(actual, charged);
    }

    /** Calculates the quota of each limit, in order, from states at an instant, which include the charge or not. */
    public List<Quota> quotas(boolean spent, long nowMicros) {
        Quota[] quotas = new Quota[states.size()];
        for (int i = 0; i < quotas.length; i++) {
            quotas[i] = states.get(i).quota(charge, i, spent, nowMicros);
        }
        return List.of(quotas);
    }

    /** Calculates the result of the charge from states at an instant, which include the charge or not. */
    public ChargeResult result(boolean spent, long nowMicros) {
        return new ChargeResult(charge.policy().policy(), charge.shadow(), quotas(spent, nowMicros));
    }

    /** Calculates the results of several charges from states at an instant, which include the charges or not. */
    public static List<ChargeResult> results(List<ChargeStates> charges, boolean spent, long nowMicros) {
        ChargeResult[] results = new ChargeResult[charges.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = charges.get(i).result(spent, nowMicros);
        }
        return List.of(results);
    }

    /** Returns the result of a shadow charge that is not evaluated, without quotas. */
    public static ChargeResult unknown(Charge shadow) {
        return new ChargeResult(shadow.policy().policy(), true, List.of());
    }

    /** Returns the results of charges in their order, given those of the enforced ones. The shadow charges are not evaluated. */
    public static List<ChargeResult> withoutShadows(List<Charge> charges, List<ChargeResult> ofEnforced) {
        Iterator<ChargeResult> enforced = ofEnforced.iterator();
        return charges.stream()
                .map(charge -> charge.shadow() ? unknown(charge) : enforced.next())
                .toList();
    }

    /** Splits the states of several charges, which are in the order of the charges and their limits. */
    public static List<ChargeStates> split(List<Charge> charges, List<? extends LimitState> states) {
        List<ChargeStates> all = new ArrayList<>(charges.size());
        int from = 0;
        for (Charge charge : charges) {
            int to = from + charge.policy().limits().size();
            all.add(new ChargeStates(charge, List.copyOf(states.subList(from, to))));
            from = to;
        }
        return all;
    }
}
