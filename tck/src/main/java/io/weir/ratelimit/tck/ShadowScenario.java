// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A random scenario of one key under several policies, some in shadow mode, that compares a backend with a model of each limit. */
final class ShadowScenario {
    private record ModeledPolicy(PolicyLimits limits, List<ReferenceModel> models) {}

    private final TestKey key;
    private final ManualTime time;
    private final Random random;
    private final RandomLimits randomLimits;
    private final String title;
    private final List<ModeledPolicy> policies = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();
    private List<Quota> lastQuotas = List.of();

    ShadowScenario(TestKey key, ManualTime time, Random random, String title) {
        this.key = key;
        this.time = time;
        this.random = random;
        this.randomLimits = new RandomLimits(random);
        this.title = title;
        for (int i = 0; i < 3; i++) {
            List<Algorithm> algorithms = new ArrayList<>();
            for (int limit = 0; limit <= random.nextInt(2); limit++) {
                List<Algorithm> all = List.of(Algorithm.values());
                algorithms.add(all.get(random.nextInt(all.size())));
            }
            List<Limit> limits = randomLimits.policy(algorithms);
            policies.add(new ModeledPolicy(
                    new PolicyLimits("p" + i, limits),
                    limits.stream().map(ReferenceModel::of).toList()));
        }
    }

    void run(int count) {
        for (int step = 0; step < count; step++) {
            acquire();
            List<Limit> limits = policies.get(random.nextInt(3)).limits.limits();
            long wait = random.nextBoolean()
                    ? 0
                    : Math.max(0, randomLimits.wait(limits.get(random.nextInt(limits.size())), lastQuotas));
            steps.add("advance " + wait);
            time.advanceMicros(wait);
        }
    }

    private void acquire() {
        long now = time.micros();
        List<Charge> charges = new ArrayList<>();
        List<ModeledPolicy> charged = new ArrayList<>();
        choose(charges, charged);
        steps.add("acquire " + charges);
        boolean expected = true;
        List<Boolean> fitting = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean fits = charged.get(i).models.stream().allMatch(model -> model.allows(charge.cost(), 0, now));
            fitting.add(fits);
            expected &= fits || charge.shadow();
        }
        Decision decision = key.backend().acquire(charges);
        assertThat(decision.allowed()).as(this::history).isEqualTo(expected);
        List<Quota> enforced = new ArrayList<>();
        List<Quota> shadow = new ArrayList<>();
        List<Runnable> undo = new ArrayList<>();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charge.shadow() && !expected) {
                continue;
            }
            boolean spends = expected && fitting.get(i);
            for (ReferenceModel model : charged.get(i).models) {
                if (spends) {
                    ReferenceModel.Spend spend = model.spend(charge.cost(), now);
                    undo.add(() -> model.refund(spend, now));
                } else {
                    model.reject(now);
                }
            }
            (charge.shadow() ? shadow : enforced).addAll(quotas(charge, charged.get(i), spends, now));
        }
        lastQuotas = new ArrayList<>(enforced);
        lastQuotas.addAll(shadow);
        assertThat(decision.quotas()).as(this::history).isEqualTo(enforced);
        assertThat(decision.shadowQuotas()).as(this::history).isEqualTo(shadow);
        if (decision instanceof Decision.Allowed allowed && random.nextInt(4) == 0) {
            steps.add("refund");
            key.backend().refund(allowed.receipt());
            undo.forEach(Runnable::run);
            assertPeeks(charges, charged, now);
        }
    }

    private void choose(List<Charge> charges, List<ModeledPolicy> charged) {
        int first = random.nextInt(3);
        for (int i = 0; i <= random.nextInt(3); i++) {
            ModeledPolicy policy = policies.get((first + i) % 3);
            List<Limit> limits = policy.limits.limits();
            long cost = randomLimits.cost(limits.get(random.nextInt(limits.size())));
            Charge charge = new Charge(policy.limits, key.storedKey(), cost);
            charges.add(random.nextInt(5) < 2 ? charge : charge.asShadow());
            charged.add(policy);
        }
    }

    private void assertPeeks(List<Charge> charges, List<ModeledPolicy> charged, long now) {
        for (int i = 0; i < charges.size(); i++) {
            assertThat(key.backend().peek(charges.get(i)))
                    .as(this::history)
                    .isEqualTo(quotas(charges.get(i), charged.get(i), false, now));
        }
    }

    private static List<Quota> quotas(Charge charge, ModeledPolicy policy, boolean spent, long now) {
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

    private String history() {
        return title + ", after " + steps;
    }
}
