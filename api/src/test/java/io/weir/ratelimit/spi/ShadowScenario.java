// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A random walk of one key under some policies, each now and then in shadow mode, taken by a backend and by a model of each limit. */
final class ShadowScenario {
    private record Modelled(PolicyLimits limits, List<ReferenceModel> models) {}

    private final TestKey key;
    private final ManualTime time;
    private final Random random;
    private final RandomLimits palette;
    private final String title;
    private final List<Modelled> policies = new ArrayList<>();
    private final List<String> trail = new ArrayList<>();
    private List<Quota> told = List.of();

    ShadowScenario(TestKey key, ManualTime time, Random random, String title) {
        this.key = key;
        this.time = time;
        this.random = random;
        this.palette = new RandomLimits(random);
        this.title = title;
        for (int i = 0; i < 3; i++) {
            List<Algorithm> algorithms = new ArrayList<>();
            for (int limit = 0; limit <= random.nextInt(2); limit++) {
                algorithms.add(Algorithm.values()[random.nextInt(Algorithm.values().length)]);
            }
            List<Limit> limits = palette.policy(algorithms);
            policies.add(new Modelled(
                    new PolicyLimits("p" + i, limits),
                    limits.stream().map(ReferenceModel::of).toList()));
        }
    }

    void run(int steps) {
        for (int step = 0; step < steps; step++) {
            acquire();
            List<Limit> limits = policies.get(random.nextInt(3)).limits.limits();
            long wait = random.nextBoolean()
                    ? 0
                    : Math.max(0, palette.wait(limits.get(random.nextInt(limits.size())), told));
            trail.add("advance " + wait);
            time.advanceMicros(wait);
        }
    }

    private void acquire() {
        long now = time.micros();
        List<Charge> charges = new ArrayList<>();
        List<Modelled> charged = new ArrayList<>();
        int first = random.nextInt(3);
        for (int i = 0; i <= random.nextInt(3); i++) {
            Modelled policy = policies.get((first + i) % 3);
            List<Limit> limits = policy.limits.limits();
            long cost = palette.cost(limits.get(random.nextInt(limits.size())));
            Charge charge = new Charge(policy.limits, key.identity(), cost);
            charges.add(random.nextInt(5) < 2 ? charge : charge.asShadow());
            charged.add(policy);
        }
        trail.add("acquire " + charges);
        boolean admitted = true;
        List<Boolean> room = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean has = charged.get(i).models.stream().allMatch(model -> model.admits(charge.cost(), 0, now));
            room.add(has);
            admitted &= has || charge.shadow();
        }
        Decision decision = key.backend().acquire(charges);
        assertThat(decision.allowed()).as(this::story).isEqualTo(admitted);
        List<Quota> enforced = new ArrayList<>();
        List<Quota> shadow = new ArrayList<>();
        List<Runnable> undo = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean spends = admitted && room.get(i);
            for (ReferenceModel model : charged.get(i).models) {
                if (spends) {
                    ReferenceModel.Spend spend = model.spend(charge.cost(), now);
                    undo.add(() -> model.giveBack(spend, now));
                } else {
                    model.refuse(now);
                }
            }
            (charge.shadow() ? shadow : enforced).addAll(quotas(charge, charged.get(i), spends, now));
        }
        told = new ArrayList<>(enforced);
        told.addAll(shadow);
        assertThat(decision.quotas()).as(this::story).isEqualTo(enforced);
        assertThat(decision.shadow()).as(this::story).isEqualTo(shadow);
        if (decision instanceof Decision.Allowed allowed && random.nextInt(4) == 0) {
            trail.add("give back");
            key.backend().giveBack(allowed.receipt());
            undo.forEach(Runnable::run);
            for (int i = 0; i < charges.size(); i++) {
                assertThat(key.backend().peek(charges.get(i)))
                        .as(this::story)
                        .isEqualTo(quotas(charges.get(i), charged.get(i), false, now));
            }
        }
    }

    private static List<Quota> quotas(Charge charge, Modelled policy, boolean spent, long now) {
        List<Quota> quotas = new ArrayList<>();
        for (int i = 0; i < policy.models.size(); i++) {
            String name = policy.limits.policy()
                    + (policy.models.size() == 1
                            ? ""
                            : "-" + policy.limits.limits().get(i).windowText());
            quotas.add(policy.models.get(i).quota(policy.limits.policy(), name, charge.cost(), 0, spent, now));
        }
        return quotas;
    }

    private String story() {
        return title + ", after " + trail;
    }
}
