// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Decisions for a call of {@code Search.find}. */
final class Events {
    static final String ADDRESS = "i.203.0.113.7";
    static final String USER = "p.alice";
    static final long NANOS = 3_000_000;

    /** A policy with 10 permits per second and 1,000 per hour. */
    static final PolicyLimits API = new PolicyLimits("api", List.of(per(10, 1), per(1_000, 3_600)));

    /** A policy with 100 permits per minute. */
    static final PolicyLimits LOGIN = new PolicyLimits("login", List.of(per(100, 60)));

    private Events() {}

    private static Limit per(long permits, long seconds) {
        return Limit.of(Algorithm.SLIDING_WINDOW, permits, Duration.ofSeconds(seconds));
    }

    static Charge charge(PolicyLimits policy, String storedKey, long cost) {
        return new Charge(policy, storedKey, cost);
    }

    static DecisionEvent allowed(List<Charge> charges, long... remaining) {
        return event(charges, new Decision.Allowed(quotas(charges, remaining), Receipt.EMPTY));
    }

    /** Creates a rejection by each limit without remaining permits. The wait is the position of the limit in seconds, from 1. */
    static DecisionEvent rejected(List<Charge> charges, long... remaining) {
        return event(charges, new Decision.Rejected(quotas(charges, remaining)));
    }

    /** Creates an allowed decision with the quotas of policies in shadow mode. */
    static DecisionEvent allowed(List<Charge> charges, List<Quota> enforced, List<Quota> shadow) {
        return event(charges, new Decision.Allowed(enforced, Receipt.EMPTY, 0, shadow));
    }

    /** Creates a rejection by enforced policies, in which policies in shadow mode are not decided. */
    static DecisionEvent rejected(List<Charge> charges, List<Quota> enforced) {
        return event(charges, new Decision.Rejected(enforced));
    }

    static DecisionEvent degraded(List<Charge> charges, FailureMode mode) {
        return degraded(charges, mode, "timeout");
    }

    static DecisionEvent degraded(List<Charge> charges, FailureMode mode, String reason) {
        return event(charges, new Decision.Degraded(mode, mode == FailureMode.OPEN, reason));
    }

    private static DecisionEvent event(List<Charge> charges, Decision decision) {
        return new DecisionEvent("Search.find", charges, decision, NANOS);
    }

    /** Creates one quota per limit. A limit without remaining permits rejects, with a wait of its position in seconds, from 1. */
    static List<Quota> quotas(List<Charge> charges, long... remaining) {
        List<Quota> quotas = new ArrayList<>();
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                int i = quotas.size();
                boolean rejected = remaining[i] == 0;
                String name = charge.policy().policy() + "-" + limit.windowText();
                quotas.add(new Quota(
                        charge.policy().policy(),
                        name,
                        limit.permits(),
                        limit.capacity(),
                        limit.window(),
                        remaining[i],
                        rejected,
                        rejected ? 1_000_000L * (i + 1) : 0,
                        0,
                        0));
            }
        }
        return quotas;
    }
}
