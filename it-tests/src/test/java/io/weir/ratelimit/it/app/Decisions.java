// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts decisions by endpoint, and refusals by policy. */
@ApplicationScoped
public class Decisions implements DecisionListener {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    @Override
    public void onDecision(DecisionEvent event) {
        counts.merge(event.endpoint(), 1, Integer::sum);
    }

    void refused(@Observes RateLimitRejected event) {
        counts.merge("refused " + event.policy(), 1, Integer::sum);
    }

    void refusedLater(@ObservesAsync RateLimitRejected event) {
        counts.merge("refused later " + event.policy(), 1, Integer::sum);
    }

    public int about(String endpoint) {
        return counts.getOrDefault(endpoint, 0);
    }
}
