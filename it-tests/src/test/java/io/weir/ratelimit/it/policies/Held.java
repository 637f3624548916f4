// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Answers that wait, by client. */
@ApplicationScoped
public class Held {
    private final Map<String, Runnable> answers = new ConcurrentHashMap<>();

    void hold(String client, Runnable answer) {
        answers.put(client, answer);
    }

    /** False if none waits. */
    boolean release(String client) {
        Runnable answer = answers.remove(client);
        if (answer != null) {
            answer.run();
        }
        return answer != null;
    }
}
