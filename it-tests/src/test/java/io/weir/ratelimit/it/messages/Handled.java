// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The messages that a consumer has handled, and limited work of a consumer. */
@ApplicationScoped
public class Handled {
    private final Map<String, Integer> messages = new ConcurrentHashMap<>();

    public void add(String queue) {
        messages.merge(queue, 1, Integer::sum);
    }

    public int count(String queue) {
        return messages.getOrDefault(queue, 0);
    }

    @RateLimit("calling")
    public void limited(String queue) {
        add(queue);
    }
}
