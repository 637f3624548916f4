// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/**
 * A charge with the state of each of its limits at one instant, such as the instant right after the charge was spent.
 *
 * @param charge the charge
 * @param states the states, in the order of the limits of the charge's policy
 */
public record ChargeStates(Charge charge, List<LimitState> states) {
    /** Copies the list and checks its size. */
    public ChargeStates {
        states = List.copyOf(states);
        if (states.size() != charge.policy().limits().size()) {
            throw new IllegalArgumentException(charge + " needs one state per limit, not " + states.size());
        }
    }

    /**
     * Returns the number of the slot that the charge has taken.
     *
     * @return the number, 1 or more
     */
    public long slot() {
        return ((ConcurrencyState) states.get(charge.policy().concurrencyIndex())).taken();
    }

    /**
     * Returns this charge as if its cost had been the actual cost, for a refund after a settlement.
     *
     * @param actualCost the actual cost in permits, 1 or more
     * @return the charge with the states right after it
     */
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

    /**
     * Calculates the quota of each limit.
     *
     * @param spent whether the states include the charge
     * @param nowMicros the instant of the states, in microseconds
     * @return one quota per limit, in the order of the limits
     */
    public List<Quota> quotas(boolean spent, long nowMicros) {
        Quota[] quotas = new Quota[states.size()];
        fillQuotas(spent, nowMicros, quotas, 0);
        return List.of(quotas);
    }

    /**
     * Calculates the quota of each limit of several charges.
     *
     * @param charges the charges with their states
     * @param spent whether the states include the charges
     * @param nowMicros the instant of the states, in microseconds
     * @return one quota per limit, in the order of the charges and their limits
     */
    public static List<Quota> quotas(List<ChargeStates> charges, boolean spent, long nowMicros) {
        int count = 0;
        for (int i = 0; i < charges.size(); i++) {
            count += charges.get(i).states.size();
        }
        Quota[] quotas = new Quota[count];
        int next = 0;
        for (int i = 0; i < charges.size(); i++) {
            next = charges.get(i).fillQuotas(spent, nowMicros, quotas, next);
        }
        return List.of(quotas);
    }

    private int fillQuotas(boolean spent, long nowMicros, Quota[] quotas, int first) {
        int next = first;
        for (int i = 0; i < states.size(); i++) {
            quotas[next] = QuotaCalculator.quota(charge, i, states.get(i), spent, nowMicros);
            next++;
        }
        return next;
    }

    /**
     * Splits the states of several charges.
     *
     * @param charges the charges
     * @param states one state per limit, in the order of the charges and their limits
     * @return one element per charge, in the same order
     */
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
