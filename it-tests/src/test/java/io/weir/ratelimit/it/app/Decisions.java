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

/** A counter of decisions by endpoint and of rejections by policy. */
@ApplicationScoped
public class Decisions implements DecisionListener {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    @Override
    public void onDecision(DecisionEvent event) {
        counts.merge(event.endpoint(), 1, Integer::sum);
    }

    void rejected(@Observes RateLimitRejected event) {
        counts.merge("rejected " + event.policy(), 1, Integer::sum);
    }

    void rejectedAsync(@ObservesAsync RateLimitRejected event) {
        counts.merge("rejected async " + event.policy(), 1, Integer::sum);
    }

    public int count(String endpoint) {
        return counts.getOrDefault(endpoint, 0);
    }
}
