// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimitRejected;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The results of the calls under each policy. */
@ApplicationScoped
public class Seen {
    private final Map<String, List<String>> events = new ConcurrentHashMap<>();

    void add(String policy, String event) {
        events.computeIfAbsent(policy, unused -> new CopyOnWriteArrayList<>()).add(event);
    }

    void rejected(@Observes RateLimitRejected event) {
        event.decision().violatedPolicies().forEach(policy -> add(policy, "rejected"));
    }

    List<String> of(String policy) {
        return events.getOrDefault(policy, List.of());
    }
}
