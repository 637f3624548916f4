// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.opentest4j.TestAbortedException;

/**
 * A random scenario of one key under one policy that compares a backend with a model of each limit after each step.
 *
 * <p>The scenario omits cases that the documentation does not specify. Between a refund and a changed limit or a step back of the clock,
 * there is an allowed call. After a refund, the receipts of later charges are not used. After a settlement they are used unless a limit is
 * a bucket.
 */
final class ModelScenario {
    private record ChargedCall(Receipt receipt, long cost, List<ReferenceModel.Spend> spends) {}

    private final TestKey key;
    private final ManualTime time;
    private final Random random;
    private final RandomLimits randomLimits;
    private final List<ReferenceModel> models;
    private final List<String> steps = new ArrayList<>();
    private final List<ChargedCall> charged = new ArrayList<>();
    private final String title;
    private final boolean stable;
    private List<Limit> limits;
    private List<Quota> lastQuotas = List.of();
    private boolean refunded;

    /** The instant at which the block of the key ends. */
    private long blockEnd;

    private boolean unspecified;

    ModelScenario(TestKey key, ManualTime time, Function<RandomLimits, List<Limit>> policy, String title, long seed) {
        this.key = key;
        this.time = time;
        this.random = new Random(seed);
        this.randomLimits = new RandomLimits(random);
        this.limits = policy.apply(randomLimits);
        this.models = limits.stream().map(ReferenceModel::of).toList();
        this.stable = random.nextBoolean();
        this.title = title;
    }

    void run(int count) {
        steps.add("limits " + limits);
        check();
        for (int step = 0; step < count; step++) {
            int kind = random.nextInt(100);
            if (kind < 48) {
                acquire(cost(), maxWait());
            } else if (kind < 75) {
                advance();
            } else if (kind < 80 && !unspecified && !charged.isEmpty()) {
                refundReceipt();
            } else if (kind < 85 && !unspecified && !charged.isEmpty()) {
                settleReceipt();
            } else if (kind < 87 && !unspecified) {
                refundCost();
            } else if (kind < 94 && !refunded && !stable) {
                changeLimits();
            } else if (kind < 97 && !refunded && !stable) {
                stepBack();
            } else if (kind == 98) {
                blockOrUnblock();
            } else if (kind == 99) {
                reset();
            } else {
                check();
            }
        }
    }

    private void acquire(long cost, long maxWait) {
        steps.add("acquire " + cost + " with max-wait " + maxWait);
        long now = time.micros();
        boolean expected = now >= blockEnd && models.stream().allMatch(model -> model.allows(cost, maxWait, now));
        Decision decision = key.backend().acquire(List.of(charge(cost, maxWait)));
        assertThat(decision.allowed()).as(this::history).isEqualTo(expected);
        if (decision instanceof Decision.Allowed allowed) {
            long wait = models.stream()
                    .mapToLong(model -> model.waitMicros(cost, now))
                    .max()
                    .orElseThrow();
            assertThat(allowed.waitMicros()).as(this::history).isEqualTo(wait);
            List<ReferenceModel.Spend> spends = new ArrayList<>();
            models.forEach(model -> spends.add(model.spend(cost, now)));
            charged.add(new ChargedCall(allowed.receipt(), cost, spends));
            unspecified = false;
            refunded = false;
        } else {
            models.forEach(model -> model.reject(now));
        }
        lastQuotas = decision.quotas();
        assertThat(lastQuotas).as(this::history).isEqualTo(expectedQuotas(cost, maxWait, expected));
    }

    private void check() {
        long cost = cost();
        long maxWait = maxWait();
        lastQuotas = key.backend().peek(charge(cost, maxWait));
        assertThat(lastQuotas).as(this::history).isEqualTo(expectedQuotas(cost, maxWait, false));
    }

    private List<Quota> expectedQuotas(long cost, long maxWait, boolean spent) {
        List<Quota> quotas = new ArrayList<>();
        for (int i = 0; i < models.size(); i++) {
            String name = models.size() == 1 ? "api" : "api-" + limits.get(i).windowText();
            Quota quota = models.get(i).quota("api", name, cost, maxWait, spent, time.micros());
            quotas.add(time.micros() < blockEnd ? blocked(quota, blockEnd - time.micros()) : quota);
        }
        return quotas;
    }

    /** Returns the quota of a limit whose permits are available both after their return and after the block. */
    private static Quota blocked(Quota quota, long left) {
        long firstPermit = quota.remaining() == 0 ? QuotaMicros.nextPermitAfter(quota) : 0;
        return QuotaMicros.build(
                quota.toBuilder().remaining(0).blockedFor(QuotaMicros.duration(left)),
                Math.max(QuotaMicros.retryAfter(quota), left),
                Math.max(QuotaMicros.resetAfter(quota), left),
                quota.capacity() == 0 ? 0 : Math.max(firstPermit, left));
    }

    private void blockOrUnblock() {
        PolicyLimits policy = charge(1, 0).policy();
        if (time.micros() < blockEnd && random.nextBoolean()) {
            steps.add("unblock");
            key.backend().unblock(policy, key.storedKey());
            blockEnd = 0;
        } else {
            long window = limits.get(random.nextInt(limits.size())).windowMicros();
            long micros =
                    Math.min(1 + random.nextLong(random.nextBoolean() ? window : 1_000), TimeUnit.DAYS.toMicros(366));
            steps.add("block for " + micros);
            key.backend().block(policy, key.storedKey(), Duration.of(micros, ChronoUnit.MICROS));
            blockEnd = Math.max(blockEnd, time.micros() + micros);
        }
        check();
    }

    private void advance() {
        long step = Math.max(0, randomLimits.wait(limits.get(random.nextInt(limits.size())), lastQuotas));
        steps.add("advance " + step);
        time.advanceMicros(step);
        check();
    }

    private void stepBack() {
        if (time.micros() >= blockEnd) {
            // It is not specified whether a block that has ended begins again.
            steps.add("unblock");
            key.backend().unblock(charge(1, 0).policy(), key.storedKey());
            blockEnd = 0;
        }
        resetIf(isUntouched());
        long window = limits.get(random.nextInt(limits.size())).windowMicros();
        long step = Math.min(time.micros() - 1, 1 + random.nextLong(random.nextBoolean() ? window : 3 * window));
        steps.add("step back " + step);
        time.advanceMicros(-step);
        charged.clear();
        unspecified = true;
        check();
    }

    private void refundReceipt() {
        int index = random.nextInt(charged.size());
        steps.add("refund receipt " + index + " of " + charged.size());
        ChargedCall call = charged.get(index);
        key.backend().refund(call.receipt());
        for (int i = 0; i < models.size(); i++) {
            models.get(i).refund(call.spends().get(i), time.micros());
        }
        charged.subList(index, charged.size()).clear();
        refunded = true;
        check();
    }

    private void settleReceipt() {
        int index = random.nextInt(charged.size());
        ChargedCall call = charged.get(index);
        long actual = random.nextInt(4) == 0 ? random.nextLong(call.cost + 1) : actualCost(call.cost);
        steps.add("settle receipt " + index + " of " + charged.size() + " with " + actual + " instead of " + call.cost);
        try {
            key.backend().settle(call.receipt(), charge -> true, actual);
        } catch (TestAbortedException e) {
            // The backend cannot settle: the other steps are still compared.
            return;
        }
        for (int i = 0; i < models.size(); i++) {
            ReferenceModel.Spend spend = call.spends().get(i);
            if (actual > call.cost) {
                models.get(i).raise(spend, actual - call.cost, time.micros());
            } else {
                models.get(i).reduce(spend, call.cost - actual, time.micros());
            }
        }
        boolean isAnyBucket = models.stream().anyMatch(ReferenceModel::chargesInAdvance);
        charged.subList(index, isAnyBucket || actual < call.cost ? charged.size() : index + 1)
                .clear();
        refunded |= actual < call.cost;
        check();
        if (random.nextBoolean()) {
            steps.add("settle it again");
            key.backend().settle(call.receipt(), charge -> true, random.nextLong(2 * actual + 2));
            check();
        }
    }

    /** Returns a cost of at least the reserved cost, mostly up to the double capacity of a limit. */
    private long actualCost(long reserved) {
        Limit limit = limits.get(random.nextInt(limits.size()));
        return switch (random.nextInt(5)) {
            case 0 -> reserved + random.nextLong(3);
            case 1 -> reserved + limit.capacity();
            case 2 -> reserved + 2 * limit.capacity() + limit.permits();
            case 3 -> reserved + random.nextLong(1 + 1_000 * limit.capacity());
            default -> reserved + random.nextLong(1 + limit.capacity());
        };
    }

    private void refundCost() {
        long cost = cost();
        steps.add("refund cost " + cost);
        key.backend().refund(charge(cost, 0));
        models.forEach(model -> model.refund(cost, time.micros()));
        charged.clear();
        refunded = true;
        check();
    }

    private void changeLimits() {
        resetIf(isUntouched() || blocksBucket());
        limits = limits.stream().map(randomLimits::changed).toList();
        steps.add("limits " + limits);
        for (int i = 0; i < models.size(); i++) {
            models.get(i).change(limits.get(i));
        }
        charged.clear();
        unspecified = true;
        // It is not specified how long permits count under a changed limit without a call.
        acquire(cost(), maxWait());
        check();
    }

    private boolean isUntouched() {
        return models.stream().allMatch(model -> model.untouched(time.micros()));
    }

    /** It is not specified how long permits count while none return. */
    private boolean blocksBucket() {
        return models.stream().anyMatch(model -> model.chargesInAdvance() && model.limit.permits() == 0);
    }

    /** It is not specified whether permits that have returned count again under another limit or after a step back. */
    private void resetIf(boolean unspecified) {
        if (unspecified) {
            reset();
        }
    }

    private void reset() {
        steps.add("reset");
        key.backend().reset(charge(1, 0).policy(), key.storedKey());
        models.forEach(ReferenceModel::reset);
        blockEnd = 0;
        charged.clear();
        unspecified = false;
        refunded = false;
        check();
    }

    private long cost() {
        return randomLimits.cost(limits.get(random.nextInt(limits.size())));
    }

    private long maxWait() {
        return randomLimits.maxWait(limits.get(random.nextInt(limits.size())), lastQuotas);
    }

    private Charge charge(long cost, long maxWait) {
        return new Charge(TestKey.policy(limits.toArray(Limit[]::new)), key.storedKey(), cost, maxWait);
    }

    private String history() {
        return title + ", after " + steps;
    }
}
