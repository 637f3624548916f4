// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.observe;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.interceptor.engine.StoreListener;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/** Counts and measures decisions. Each series is made when it is first needed; policies and endpoints bound their number. */
final class DecisionMetrics implements DecisionListener, StoreListener {
    /** The tier of a caller who has none. */
    private static final String NO_TIER = "none";

    private enum Outcome {
        ALLOWED,
        REJECTED,
        /** Another policy refused. */
        NOT_CHARGED,
        DEGRADED_ALLOWED,
        DEGRADED_REJECTED,
        /** Configuration lets the caller past all limits. */
        BYPASSED;

        private final String tag = name().toLowerCase(Locale.ROOT);
    }

    private final Meters meters;
    private final Map<String, Map<String, Series>> byEndpointAndPolicy = new ConcurrentHashMap<>();
    private final Map<BackendException.Reason, Runnable> errors = new ConcurrentHashMap<>();
    private final LongConsumer allowedTime;
    private final LongConsumer rejectedTime;
    private final LongConsumer failedTime;

    DecisionMetrics(Meters meters, String backend) {
        this.meters = meters;
        this.allowedTime = timer(backend, "allowed");
        this.rejectedTime = timer(backend, "rejected");
        this.failedTime = timer(backend, "error");
    }

    private LongConsumer timer(String backend, String result) {
        return meters.timer(Metric.CHECK_DURATION, "backend", backend, "result", result);
    }

    @Override
    public void onDecision(DecisionEvent event) {
        Decision decision = event.decision();
        if (decision instanceof Decision.Degraded) {
            failedTime.accept(event.nanos());
        } else {
            (decision.allowed() ? allowedTime : rejectedTime).accept(event.nanos());
        }
        List<Quota> quotas = decision.quotas();
        int first = 0;
        for (Charge charge : event.charges()) {
            Series series = series(event.endpoint(), charge.policy().policy());
            series.count(outcome(decision, charge, first));
            if (!quotas.isEmpty()) {
                series.utilization.accept(utilization(charge, quotas, first));
                first += charge.policy().limits().size();
            }
        }
    }

    @Override
    public void onBypass(String endpoint, List<String> policies) {
        policies.forEach(policy -> series(endpoint, policy).count(Outcome.BYPASSED));
    }

    private static Outcome outcome(Decision decision, Charge charge, int first) {
        if (decision instanceof Decision.Degraded) {
            return decision.allowed() ? Outcome.DEGRADED_ALLOWED : Outcome.DEGRADED_REJECTED;
        }
        if (decision.allowed()) {
            return Outcome.ALLOWED;
        }
        for (int i = 0; i < charge.policy().limits().size(); i++) {
            if (decision.quotas().get(first + i).refused()) {
                return Outcome.REJECTED;
            }
        }
        return Outcome.NOT_CHARGED;
    }

    /** The part of its capacity that the fullest limit of a policy has given away; all of it where nothing is permitted. */
    private static double utilization(Charge charge, List<Quota> quotas, int first) {
        double fullest = 0;
        for (int i = first; i < first + charge.policy().limits().size(); i++) {
            Quota quota = quotas.get(i);
            fullest = Math.max(fullest, quota.capacity() == 0 ? 1 : 1 - (double) quota.remaining() / quota.capacity());
        }
        return fullest;
    }

    private Series series(String endpoint, String policy) {
        Map<String, Series> byPolicy = byEndpointAndPolicy.get(endpoint);
        Series series = byPolicy == null ? null : byPolicy.get(policy);
        return series != null
                ? series
                : byEndpointAndPolicy
                        .computeIfAbsent(endpoint, ignored -> new ConcurrentHashMap<>())
                        .computeIfAbsent(policy, ignored -> new Series(endpoint, policy));
    }

    @Override
    public void onError(BackendException failure) {
        errors.computeIfAbsent(failure.reason(), reason -> meters.counter(Metric.BACKEND_ERRORS, "type", reason.tag()))
                .run();
    }

    /** What is recorded about one policy at one endpoint. */
    private final class Series {
        private final String endpoint;
        private final String policy;
        private final DoubleConsumer utilization;
        private final Map<Outcome, Runnable> counters = new ConcurrentHashMap<>();

        private Series(String endpoint, String policy) {
            this.endpoint = endpoint;
            this.policy = policy;
            this.utilization = meters.parts(Metric.UTILIZATION, "policy", policy, "tier", NO_TIER);
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
                    Metric.DECISIONS, "policy", policy, "endpoint", endpoint, "outcome", outcome.tag, "tier", NO_TIER);
        }
    }
}
