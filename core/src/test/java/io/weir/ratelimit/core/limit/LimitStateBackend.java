// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** The simplest backend that satisfies the contract: a map under one lock and the arithmetic of {@link LimitState}. */
final class LimitStateBackend implements RateLimitBackend, SettlesCharges, BlocksKeys {
    private final TimeSource time;
    private final Map<String, LimitState> states = new HashMap<>();

    /** The limit of the latest allowed call of each state. */
    private final Map<String, Limit> latest = new HashMap<>();

    private final Map<String, Long> blockEnds = new HashMap<>();

    /** The start of the window, its rejections, the penalties and the end of their memory. */
    private final Map<String, long[]> penalties = new HashMap<>();

    LimitStateBackend(TimeSource time) {
        this.time = time;
    }

    @Override
    public String name() {
        return "limit-state";
    }

    @Override
    public boolean isConfigured() {
        return true;
    }

    @Override
    public synchronized Decision acquire(List<Charge> charges) {
        long now = time.micros();
        List<Charge> fitting =
                charges.stream().filter(charge -> hasRoom(charge, now)).toList();
        boolean allowed = charges.stream().allMatch(charge -> charge.shadow() || fitting.contains(charge));
        long wait = 0;
        List<ChargeResult> results = new ArrayList<>();
        List<ChargeStates> spent = new ArrayList<>();
        for (Charge charge : charges) {
            if (charge.shadow() && !allowed) {
                results.add(ChargeStates.unknown(charge));
                continue;
            }
            boolean spends = allowed && fitting.contains(charge);
            List<LimitState> after = new ArrayList<>(statesOf(charge, now));
            if (spends) {
                for (int i : indexes(charge.policy())) {
                    wait = Math.max(wait, after.get(i).retryAfterMicros(limit(charge, i), charge.cost(), now));
                    after.set(i, after.get(i).spend(limit(charge, i), charge.cost(), now));
                    states.put(keyOf(charge, i), after.get(i));
                    latest.put(keyOf(charge, i), limit(charge, i));
                }
                spent.add(new ChargeStates(charge, after));
            } else {
                storeAsOf(charge, after, now);
            }
            results.add(new ChargeStates(charge, after).result(spends, now));
        }
        return allowed
                ? new Decision.Allowed(results, new BackendReceipt(spent), wait)
                : new Decision.Rejected(results);
    }

    private boolean hasRoom(Charge charge, long now) {
        List<LimitState> seen = statesOf(charge, now);
        return indexes(charge.policy()).stream()
                .allMatch(i -> seen.get(i).retryAfterMicros(limit(charge, i), charge.cost(), now)
                        <= LimitState.maxDelayMicros(limit(charge, i), charge.maxWaitMicros()));
    }

    private void storeAsOf(Charge charge, List<LimitState> asOfNow, long now) {
        for (int i : indexes(charge.policy())) {
            states.computeIfPresent(
                    keyOf(charge, i), (key, stored) -> stored.isAfter(now) ? unblocked(asOfNow.get(i)) : stored);
        }
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(acquire(charges));
    }

    @Override
    public synchronized List<Quota> peek(List<Charge> charges) {
        long now = time.micros();
        return charges.stream()
                .flatMap(charge -> quotas(charge, statesOf(charge, now), false, now).stream())
                .toList();
    }

    @Override
    public synchronized CompletionStage<Void> refund(Receipt receipt) {
        if (receipt instanceof BackendReceipt mine) {
            mine.claim().forEach(this::refund);
        }
        return CompletableFuture.completedStage(null);
    }

    private void refund(ChargeStates entry) {
        Charge charge = entry.charge();
        for (int i : indexes(charge.policy())) {
            LimitState charged = entry.states().get(i);
            // Refunds from the stored state: the current limit can differ from the limit that was charged.
            states.computeIfPresent(
                    keyOf(charge, i),
                    (key, spent) -> spent.refund(
                            latest.getOrDefault(key, limit(charge, i)),
                            limit(charge, i),
                            charged,
                            charge.cost(),
                            time.micros()));
        }
    }

    @Override
    public synchronized CompletionStage<List<Charge>> settle(
            Receipt receipt, Predicate<Charge> selection, long actualCost) {
        if (!(receipt instanceof BackendReceipt mine)) {
            return CompletableFuture.completedStage(List.of());
        }
        List<ChargeStates> due = mine.settle(selection, actualCost);
        due.forEach(entry -> settle(entry, actualCost));
        return CompletableFuture.completedStage(
                due.stream().map(ChargeStates::charge).toList());
    }

    private void settle(ChargeStates entry, long actualCost) {
        Charge charge = entry.charge();
        long now = time.micros();
        for (int i : indexes(charge.policy())) {
            Limit limit = limit(charge, i);
            LimitState untouched = LimitState.untouched(limit, now);
            LimitState stored = states.get(keyOf(charge, i));
            // The permits of a bucket return without a call.
            if (stored == null && !(untouched instanceof TokenBucketState)) {
                continue;
            }
            LimitState state = stored == null ? untouched : stored;
            states.put(
                    keyOf(charge, i),
                    state.settle(
                            latest.getOrDefault(keyOf(charge, i), limit),
                            limit,
                            entry.states().get(i),
                            charge.cost(),
                            actualCost,
                            now));
        }
    }

    @Override
    public synchronized CompletionStage<Void> refund(Charge charge) {
        List<LimitState> seen = statesOf(charge, time.micros());
        for (int i : indexes(charge.policy())) {
            states.computeIfPresent(
                    keyOf(charge, i), (key, spent) -> unblocked(seen.get(i)).refund(limit(charge, i), charge.cost()));
        }
        return CompletableFuture.completedStage(null);
    }

    @Override
    public synchronized void reset(List<PolicyLimits> limits, String storedKey) {
        for (PolicyLimits policy : limits) {
            Charge charge = new Charge(policy, storedKey, 1);
            indexes(policy).forEach(i -> states.remove(keyOf(charge, i)));
            forget(policy, storedKey);
        }
    }

    @Override
    public synchronized CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        long now = time.micros();
        long end = now + BlockedState.micros(duration);
        return CompletableFuture.completedStage(Duration.of(
                blockEnds.merge(storedKey + ":" + policy.policy(), end, Math::max) - now, ChronoUnit.MICROS));
    }

    @Override
    public synchronized CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        String key = storedKey + ":" + policy.policy();
        long now = time.micros();
        if (blockEnds.getOrDefault(key, 0L) > now) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        long[] counted = penalties.computeIfAbsent(key, any -> new long[4]);
        if (now - counted[0] >= rule.window().toNanos() / 1_000) {
            counted[0] = now;
            counted[1] = 0;
        }
        counted[1] += rejections;
        counted[2] = now < counted[3] ? counted[2] : 0;
        if (counted[1] < rule.rejections()) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        long length = BlockedState.micros(rule, (int) counted[2]);
        counted[0] = now;
        counted[1] = 0;
        counted[2]++;
        counted[3] = now + length + rule.longestMicros();
        blockEnds.put(key, now + length);
        return CompletableFuture.completedStage(
                Optional.of(new BlocksKeys.Penalty(Duration.of(length, ChronoUnit.MICROS), (int) counted[2])));
    }

    @Override
    public synchronized CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        forget(policy, storedKey);
        return CompletableFuture.completedStage(null);
    }

    private void forget(PolicyLimits policy, String storedKey) {
        blockEnds.remove(storedKey + ":" + policy.policy());
        penalties.remove(storedKey + ":" + policy.policy());
    }

    private List<LimitState> statesOf(Charge charge, long now) {
        List<LimitState> found = new ArrayList<>();
        long blockEnd = blockEnds.getOrDefault(
                charge.storedKey() + ":" + charge.policy().policy(), 0L);
        for (int i : indexes(charge.policy())) {
            LimitState stored = states.get(keyOf(charge, i));
            Limit limit = limit(charge, i);
            found.add(LimitState.blocked(
                    stored == null ? LimitState.untouched(limit, now) : stored.asOf(limit, now), blockEnd, now));
        }
        return found;
    }

    private static List<Quota> quotas(Charge charge, List<LimitState> seen, boolean spent, long now) {
        return new ChargeStates(charge, seen).quotas(spent, now);
    }

    private static LimitState unblocked(LimitState state) {
        return state instanceof BlockedState blocked ? blocked.state() : state;
    }

    private static Limit limit(Charge charge, int index) {
        return charge.policy().limits().get(index);
    }

    private static String keyOf(Charge charge, int index) {
        Limit limit = limit(charge, index);
        return charge.storedKey() + ":" + charge.policy().policy() + ":"
                + limit.fold(WindowLimit::algorithm, calendar -> "c", slots -> "n") + limit.windowText();
    }

    private static List<Integer> indexes(PolicyLimits policy) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < policy.limits().size(); i++) {
            all.add(i);
        }
        return all;
    }
}
