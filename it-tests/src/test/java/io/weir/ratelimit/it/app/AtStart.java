// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.List;

/** A bean that calls a limited bean at the start, outside of a request. */
@ApplicationScoped
public class AtStart {
    private final List<String> answers = new ArrayList<>();

    @Inject
    StartWork work;

    void start(@Observes @Initialized(ApplicationScoped.class) Object event) {
        for (int i = 0; i < 3; i++) {
            try {
                answers.add(work.call());
            } catch (RateLimitExceededException e) {
                answers.add("rejected");
            }
        }
    }

    public List<String> answers() {
        return answers;
    }
}
