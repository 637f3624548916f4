// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The least backend that keeps the contract: a map under one lock, and the arithmetic of {@link LimitState}. */
final class LimitStateBackend implements RateLimitBackend {
    private final TimeSource time;
    private final Map<String, LimitState> states = new HashMap<>();

    LimitStateBackend(TimeSource time) {
        this.time = time;
    }

    @Override
    public String name() {
        return "limit-state";
    }

    @Override
    public boolean configured() {
        return true;
    }

    @Override
    public synchronized Decision acquire(List<Charge> charges) {
        long now = time.micros();
        List<Charge> fitting =
                charges.stream().filter(charge -> hasRoom(charge, now)).toList();
        boolean admitted = charges.stream().allMatch(charge -> charge.shadow() || fitting.contains(charge));
        long wait = 0;
        List<Quota> quotas = new ArrayList<>();
        List<Quota> shadow = new ArrayList<>();
        List<BackendReceipt.Entry> spent = new ArrayList<>();
        for (Charge charge : charges) {
            boolean spends = admitted && fitting.contains(charge);
            List<LimitState> after = new ArrayList<>(statesOf(charge, now));
            if (spends) {
                for (int i : indexes(charge.policy())) {
                    wait = Math.max(wait, after.get(i).waitMicros(limit(charge, i), charge.cost(), now));
                    after.set(i, after.get(i).spend(limit(charge, i), charge.cost(), now));
                    states.put(keyOf(charge, i), after.get(i));
                }
                spent.add(new BackendReceipt.Entry(charge, after));
            } else {
                takeAsOfNow(charge, after, now);
            }
            (charge.shadow() ? shadow : quotas).addAll(quotas(charge, after, spends, now));
        }
        return admitted
                ? new Decision.Allowed(quotas, BackendReceipt.of(spent), wait, shadow)
                : new Decision.Rejected(quotas, shadow);
    }

    private boolean hasRoom(Charge charge, long now) {
        List<LimitState> seen = statesOf(charge, now);
        return indexes(charge.policy()).stream()
                .allMatch(i -> seen.get(i).admits(limit(charge, i), charge.cost(), charge.patienceMicros(), now));
    }

    private void takeAsOfNow(Charge charge, List<LimitState> asOfNow, long now) {
        for (int i : indexes(charge.policy())) {
            states.computeIfPresent(keyOf(charge, i), (key, stored) -> stored.isAfter(now) ? asOfNow.get(i) : stored);
        }
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(acquire(charges));
    }

    @Override
    public synchronized List<Quota> peek(Charge charge) {
        long now = time.micros();
        return quotas(charge, statesOf(charge, now), false, now);
    }

    @Override
    public synchronized void giveBack(Receipt receipt) {
        if (receipt instanceof BackendReceipt mine) {
            mine.use().forEach(this::giveBack);
        }
    }

    private void giveBack(BackendReceipt.Entry entry) {
        Charge charge = entry.charge();
        for (int i : indexes(charge.policy())) {
            LimitState charged = entry.states().get(i);
            // On the state as stored, not as of now: only the limit of back then is known, and another may apply by
            // now.
            states.computeIfPresent(
                    keyOf(charge, i),
                    (key, live) -> live.giveBack(limit(charge, i), charged, charge.cost(), time.micros()));
        }
    }

    @Override
    public synchronized void giveBack(Charge charge) {
        List<LimitState> seen = statesOf(charge, time.micros());
        for (int i : indexes(charge.policy())) {
            states.computeIfPresent(
                    keyOf(charge, i), (key, live) -> seen.get(i).giveBack(limit(charge, i), charge.cost()));
        }
    }

    @Override
    public synchronized void reset(PolicyLimits policy, String identity) {
        indexes(policy).forEach(i -> states.remove(identity + ":" + policy.keyTail(i)));
    }

    private List<LimitState> statesOf(Charge charge, long now) {
        List<LimitState> found = new ArrayList<>();
        for (int i : indexes(charge.policy())) {
            LimitState stored = states.get(keyOf(charge, i));
            Limit limit = limit(charge, i);
            found.add(stored == null ? LimitState.untouched(limit, now) : stored.at(limit, now));
        }
        return found;
    }

    private static List<Quota> quotas(Charge charge, List<LimitState> seen, boolean spent, long now) {
        return indexes(charge.policy()).stream()
                .map(i -> charge.policy().quota(i, seen.get(i), charge.cost(), charge.patienceMicros(), spent, now))
                .toList();
    }

    private static Limit limit(Charge charge, int index) {
        return charge.policy().limits().get(index);
    }

    private static String keyOf(Charge charge, int index) {
        return charge.identity() + ":" + charge.policy().keyTail(index);
    }

    private static List<Integer> indexes(PolicyLimits policy) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < policy.limits().size(); i++) {
            all.add(i);
        }
        return all;
    }
}
