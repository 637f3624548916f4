// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A random walk of one key under one policy, taken by a backend and by a model of each limit, which must agree after each
 * step. What the documentation leaves open is left out: a give-back and a changed limit, or a clock that stepped back,
 * without an admission between them; and the receipts of charges that were made before an earlier one was given back.
 */
final class ModelScenario {
    private record Held(Receipt receipt, List<ReferenceModel.Spend> spends) {}

    private final TestKey key;
    private final ManualTime time;
    private final Random random;
    private final RandomLimits palette;
    private final List<ReferenceModel> models;
    private final List<String> trail = new ArrayList<>();
    private final List<Held> held = new ArrayList<>();
    private final String title;
    private final boolean steady;
    private List<Limit> limits;
    private List<Quota> told = List.of();
    private boolean gaveBack;
    private boolean disturbed;

    ModelScenario(TestKey key, ManualTime time, List<Algorithm> algorithms, long seed, int number) {
        this.key = key;
        this.time = time;
        this.random = new Random(seed * 31 + number);
        this.palette = new RandomLimits(random);
        this.limits = palette.policy(algorithms);
        this.models = limits.stream().map(ReferenceModel::of).toList();
        this.steady = random.nextBoolean();
        this.title = "-Dweir.test.seed=" + seed + ", scenario " + number + " of " + algorithms;
    }

    void run(int steps) {
        trail.add("limits " + limits);
        check();
        for (int step = 0; step < steps; step++) {
            int kind = random.nextInt(100);
            if (kind < 48) {
                acquire(cost(), patience());
            } else if (kind < 75) {
                advance();
            } else if (kind < 85 && !disturbed && !held.isEmpty()) {
                giveBackReceipt();
            } else if (kind < 87 && !disturbed) {
                giveBackCost();
            } else if (kind < 94 && !gaveBack && !steady) {
                changeLimits();
            } else if (kind < 97 && !gaveBack && !steady) {
                stepBack();
            } else if (kind == 99) {
                reset();
            } else {
                check();
            }
        }
    }

    private void acquire(long cost, long patience) {
        trail.add("acquire " + cost + " with patience " + patience);
        long now = time.micros();
        boolean expected = models.stream().allMatch(model -> model.admits(cost, patience, now));
        Decision decision = key.backend().acquire(List.of(charge(cost, patience)));
        assertThat(decision.allowed()).as(this::story).isEqualTo(expected);
        if (decision instanceof Decision.Allowed allowed) {
            long slot = models.stream()
                    .mapToLong(model -> model.slot(cost, now))
                    .max()
                    .orElseThrow();
            assertThat(allowed.waitMicros()).as(this::story).isEqualTo(slot);
            List<ReferenceModel.Spend> spends = new ArrayList<>();
            models.forEach(model -> spends.add(model.spend(cost, now)));
            held.add(new Held(allowed.receipt(), spends));
            disturbed = false;
            gaveBack = false;
        } else {
            models.forEach(model -> model.refuse(now));
        }
        told = decision.quotas();
        assertThat(told).as(this::story).isEqualTo(expectedQuotas(cost, patience, expected));
    }

    private void check() {
        long cost = cost();
        long patience = patience();
        told = key.backend().peek(charge(cost, patience));
        assertThat(told).as(this::story).isEqualTo(expectedQuotas(cost, patience, false));
    }

    private List<Quota> expectedQuotas(long cost, long patience, boolean spent) {
        List<Quota> quotas = new ArrayList<>();
        for (int i = 0; i < models.size(); i++) {
            String name = models.size() == 1 ? "api" : "api-" + limits.get(i).windowText();
            quotas.add(models.get(i).quota("api", name, cost, patience, spent, time.micros()));
        }
        return quotas;
    }

    private void advance() {
        long step = Math.max(0, palette.wait(limits.get(random.nextInt(limits.size())), told));
        trail.add("advance " + step);
        time.advanceMicros(step);
        check();
    }

    private void stepBack() {
        long window = limits.get(random.nextInt(limits.size())).windowMicros();
        long step = Math.min(time.micros(), 1 + random.nextLong(random.nextBoolean() ? window : 3 * window));
        trail.add("step back " + step);
        time.advanceMicros(-step);
        held.clear();
        disturbed = true;
        check();
    }

    private void giveBackReceipt() {
        int index = random.nextInt(held.size());
        trail.add("give back receipt " + index + " of " + held.size());
        Held given = held.get(index);
        key.backend().giveBack(given.receipt());
        for (int i = 0; i < models.size(); i++) {
            models.get(i).giveBack(given.spends().get(i), time.micros());
        }
        held.subList(index, held.size()).clear();
        gaveBack = true;
        check();
    }

    private void giveBackCost() {
        long cost = cost();
        trail.add("give back cost " + cost);
        key.backend().giveBack(charge(cost, 0));
        models.forEach(model -> model.giveBack(cost, time.micros()));
        held.clear();
        gaveBack = true;
        check();
    }

    private void changeLimits() {
        limits = limits.stream().map(palette::changed).toList();
        trail.add("limits " + limits);
        for (int i = 0; i < models.size(); i++) {
            models.get(i).change(limits.get(i));
        }
        held.clear();
        disturbed = true;
        check();
    }

    private void reset() {
        trail.add("reset");
        key.backend().reset(charge(1, 0).policy(), key.identity());
        models.forEach(ReferenceModel::reset);
        held.clear();
        disturbed = false;
        gaveBack = false;
        check();
    }

    private long cost() {
        return palette.cost(limits.get(random.nextInt(limits.size())));
    }

    private long patience() {
        return palette.patience(limits.get(random.nextInt(limits.size())), told);
    }

    private Charge charge(long cost, long patience) {
        return new Charge(TestKey.policy(limits.toArray(Limit[]::new)), key.identity(), cost, patience);
    }

    private String story() {
        return title + ", after " + trail;
    }
}
