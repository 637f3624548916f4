// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitRejected;
import jakarta.ejb.Schedule;
import jakarta.ejb.Singleton;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A timer that runs each second. */
@Singleton
public class Ticker {
    @Inject
    Runs runs;

    @Schedule(hour = "*", minute = "*", second = "*", persistent = false)
    @RateLimit("timer")
    public void run() {
        runs.add("run");
    }

    /** The runs and the rejected runs. */
    @ApplicationScoped
    public static class Runs {
        private final List<String> all = new CopyOnWriteArrayList<>();

        void add(String run) {
            all.add(run);
        }

        void rejected(@Observes RateLimitRejected event) {
            if (event.policy().equals("timer")) {
                add("rejected");
            }
        }

        @Override
        public String toString() {
            return String.join(" ", all);
        }
    }
}
