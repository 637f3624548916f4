// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/**
 * The metrics of decisions. Each series is created at its first use. Policies, tiers and endpoints bound the number of series.
 *
 * <p>Each decision is counted. A value of a histogram can cost more than a decision in process, so some of many are recorded.
 */
public final class DecisionMetrics implements DecisionListener, BackendStateListener {
    /** The name of the backend in process. */
    static final String LOCAL = "local";

    private final Meters meters;
    private final Map<String, Map<String, Map<String, Series>>> byEndpointPolicyAndTier = new ConcurrentHashMap<>();
    private final Map<BackendException.Reason, Runnable> errors = new ConcurrentHashMap<>();
    private final Map<String, Runnable> settled = new ConcurrentHashMap<>();
    private final LongConsumer allowedTime;
    private final LongConsumer rejectedTime;
    private final LongConsumer failedTime;

    public DecisionMetrics(Meters meters, String backend) {
        this.meters = meters;
        this.allowedTime = timer(backend, "allowed");
        this.rejectedTime = timer(backend, "rejected");
        this.failedTime = timer(backend, "error");
    }

    /** Returns the direction of the calls of an endpoint, as metrics and spans show it. */
    static String direction(String endpoint) {
        return endpoint.startsWith(MethodLimits.CLIENT) ? "outgoing" : "incoming";
    }

    private LongConsumer timer(String backend, String result) {
        return meters.timer(Meters.Metric.CHECK_DURATION, "backend", backend, "result", result);
    }

    @Override
    public void onDecision(DecisionEvent event) {
        timer(event.decision()).accept(event.durationNanos());
        List<Charge> charges = event.charges();
        for (int i = 0; i < charges.size(); i++) {
            Series series = series(event.endpoint(), charges.get(i).policy());
            series.count(Outcome.of(event, i));
            List<Quota> quotas = event.quotasOf(i);
            if (Outcome.hasUtilization(quotas)) {
                series.utilization.accept(Outcome.utilization(quotas));
            }
        }
    }

    private LongConsumer timer(Decision decision) {
        if (decision instanceof Decision.Degraded) {
            return failedTime;
        }
        return decision.allowed() ? allowedTime : rejectedTime;
    }

    @Override
    public void onBypass(String endpoint, List<PolicyLimits> policies) {
        policies.forEach(policy -> series(endpoint, policy).count(Outcome.BYPASSED));
    }

    @Override
    public void onSettle(List<Charge> charges, long actualCost) {
        for (Charge charge : charges) {
            String policy = charge.policy().policy();
            settled.computeIfAbsent(policy, name -> meters.counter(Meters.Metric.SETTLED, "policy", name))
                    .run();
        }
    }

    private Series series(String endpoint, PolicyLimits limits) {
        Map<String, Map<String, Series>> byPolicy = byEndpointPolicyAndTier.get(endpoint);
        Map<String, Series> byTier = byPolicy == null ? null : byPolicy.get(limits.policy());
        Series series = byTier == null ? null : byTier.get(limits.tier());
        return series != null
                ? series
                : byEndpointPolicyAndTier
                        .computeIfAbsent(endpoint, ignored -> new ConcurrentHashMap<>())
                        .computeIfAbsent(limits.policy(), ignored -> new ConcurrentHashMap<>())
                        .computeIfAbsent(limits.tier(), tier -> new Series(endpoint, limits.policy(), tier));
    }

    @Override
    public void onError(BackendException failure) {
        errors.computeIfAbsent(
                        failure.reason(), reason -> meters.counter(Meters.Metric.BACKEND_ERRORS, "type", reason.tag()))
                .run();
    }

    /** The series of one tier of a policy at one endpoint. */
    private final class Series {
        private final String endpoint;
        private final String policy;
        private final String tier;
        private final DoubleConsumer utilization;
        private final Map<Outcome, Runnable> counters = new ConcurrentHashMap<>();

        private Series(String endpoint, String policy, String tier) {
            this.endpoint = endpoint;
            this.policy = policy;
            this.tier = tier;
            this.utilization = meters.ratios(Meters.Metric.UTILIZATION, "policy", policy, "tier", tier);
        }

        private void count(Outcome outcome) {
            Runnable counter = counters.get(outcome);
            if (counter == null) {
                counter = counters.computeIfAbsent(outcome, this::counter);
            }
            counter.run();
        }

        private Runnable counter(Outcome outcome) {
            return meters.counter(
                    Meters.Metric.DECISIONS,
                    "policy",
                    policy,
                    "endpoint",
                    endpoint,
                    "direction",
                    direction(endpoint),
                    "outcome",
                    outcome.tag(),
                    "tier",
                    tier);
        }
    }
}
