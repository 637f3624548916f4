// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.metrics.Outcome;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/** The decisions of the last minute by policy. The number of policies bounds its memory. */
public final class LiveRates {
    private final LongSupplier nanoTime;
    private final BiConsumer<Charge, List<Quota>> blocked;
    private final Map<String, RateRing> byPolicy = new ConcurrentHashMap<>();

    public LiveRates(LongSupplier nanoTime) {
        this(nanoTime, (charge, quotas) -> {});
    }

    /** Creates rates without decisions. {@code blocked} receives the charges that a block has rejected. */
    public LiveRates(LongSupplier nanoTime, BiConsumer<Charge, List<Quota>> blocked) {
        this.nanoTime = nanoTime;
        this.blocked = blocked;
    }

    public void decided(DecisionEvent event) {
        long second = second();
        for (int i = 0; i < event.charges().size(); i++) {
            RateRing ring = ring(event.charges().get(i).policy());
            Outcome outcome = Outcome.of(event, i);
            List<Quota> quotas = event.quotasOf(i);
            if (outcome == Outcome.BLOCKED) {
                blocked.accept(event.charges().get(i), quotas);
            }
            if (Outcome.hasUtilization(quotas)) {
                ring.count(second, outcome, Outcome.utilization(quotas));
            } else {
                ring.count(second, outcome);
            }
        }
    }

    public void bypassed(List<PolicyLimits> policies) {
        long second = second();
        policies.forEach(policy -> ring(policy).count(second, Outcome.BYPASSED));
    }

    /** Returns the decisions of a policy in the last minute. */
    public Rates of(String policy) {
        RateRing ring = byPolicy.get(policy);
        return ring == null ? Rates.NONE : ring.minuteBefore(second());
    }

    /** Returns the policies that have decided since they exist. */
    public Set<String> policies() {
        return Set.copyOf(byPolicy.keySet());
    }

    /** Removes all other policies. */
    void retain(Collection<String> policies) {
        byPolicy.keySet().retainAll(policies);
    }

    private RateRing ring(PolicyLimits limits) {
        RateRing ring = byPolicy.get(limits.policy());
        return ring != null ? ring : byPolicy.computeIfAbsent(limits.policy(), ignored -> new RateRing());
    }

    /** Returns the current second of the clock, which no rate includes. */
    public long second() {
        return TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong());
    }
}
