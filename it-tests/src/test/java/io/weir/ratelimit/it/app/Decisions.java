// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts decisions by endpoint. */
@ApplicationScoped
public class Decisions implements DecisionListener {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    @Override
    public void onDecision(DecisionEvent event) {
        counts.merge(event.endpoint(), 1, Integer::sum);
    }

    public int about(String endpoint) {
        return counts.getOrDefault(endpoint, 0);
    }
}
