// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.interceptor.local.Shard.KeptState;
import io.weir.ratelimit.interceptor.local.Shard.StateKey;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One decision at one instant, while the shards of its keys are locked. */
final class LockedDecision {
    private final Shards shards;
    private final List<Charge> charges;
    private final StateKey[] keys;
    private final long now;
    private final @Nullable KeptState[] entries;
    private final LimitState[] states;
    private final boolean[] spends;
    private int shadowLimits;

    LockedDecision(Shards shards, List<Charge> charges, StateKey[] keys, long now) {
        this.shards = shards;
        this.charges = charges;
        this.keys = keys;
        this.now = now;
        this.entries = new KeptState[keys.length];
        this.states = new LimitState[keys.length];
        this.spends = new boolean[charges.size()];
    }

    /** Decides, or answers null if there is no place for a new key. */
    @Nullable
    Decision decide() {
        boolean admitted = true;
        long wait = 0;
        int places = 0;
        int i = 0;
        for (int c = 0; c < spends.length; c++) {
            Charge charge = charges.get(c);
            boolean room = true;
            int missing = 0;
            for (Limit limit : charge.policy().limits()) {
                KeptState entry = shards.find(keys[i]);
                entries[i] = entry;
                states[i] = entry == null ? LimitState.untouched(limit, now) : entry.state.at(limit, now);
                long slot = states[i].waitMicros(limit, charge.cost(), now);
                room &= slot <= limit.slotWithinMicros(charge.patienceMicros());
                wait = charge.shadow() ? wait : Math.max(wait, slot);
                missing += entry == null ? 1 : 0;
                shadowLimits += charge.shadow() ? 1 : 0;
                i++;
            }
            spends[c] = room;
            admitted &= room || charge.shadow();
            places += room ? missing : 0;
        }
        if (!admitted) {
            Arrays.fill(spends, false);
        } else if (places > 0 && !shards.reserve(places)) {
            return null;
        }
        settle();
        return admitted
                ? new Decision.Allowed(quotas(false), receipt(), wait, quotas(true))
                : new Decision.Rejected(quotas(false), quotas(true));
    }

    private void settle() {
        int i = 0;
        for (int c = 0; c < spends.length; c++) {
            Charge charge = charges.get(c);
            for (Limit limit : charge.policy().limits()) {
                if (spends[c]) {
                    spend(i, limit, charge.cost());
                } else {
                    takeAsOfNow(i);
                }
                i++;
            }
        }
    }

    private void spend(int i, Limit limit, long cost) {
        states[i] = states[i].spend(limit, cost, now);
        KeptState entry = entries[i];
        if (entry == null) {
            shards.add(new KeptState(keys[i], limit, states[i]), now);
        } else {
            entry.limit = limit;
            entry.state = states[i];
        }
    }

    /** Nothing is spent, but a state from the future would have its wait told anew at every call. */
    private void takeAsOfNow(int i) {
        KeptState entry = entries[i];
        if (entry != null && entry.state.isAfter(now)) {
            entry.state = states[i];
        }
    }

    private BackendReceipt receipt() {
        if (shadowLimits == 0) {
            return new BackendReceipt(charges, List.of(states));
        }
        List<BackendReceipt.Entry> spent = new ArrayList<>();
        int from = 0;
        for (int c = 0; c < spends.length; c++) {
            int to = from + charges.get(c).policy().limits().size();
            if (spends[c]) {
                spent.add(new BackendReceipt.Entry(charges.get(c), List.of(Arrays.copyOfRange(states, from, to))));
            }
            from = to;
        }
        return BackendReceipt.of(spent);
    }

    private List<Quota> quotas(boolean shadow) {
        int count = shadow ? shadowLimits : states.length - shadowLimits;
        if (count == 0) {
            return List.of();
        }
        Quota[] quotas = new Quota[count];
        int next = 0;
        int i = 0;
        for (int c = 0; c < spends.length; c++) {
            Charge charge = charges.get(c);
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                if (charge.shadow() == shadow) {
                    quotas[next] = charge.policy()
                            .quota(limit, states[i], charge.cost(), charge.patienceMicros(), spends[c], now);
                    next++;
                }
                i++;
            }
        }
        return List.of(quotas);
    }
}
