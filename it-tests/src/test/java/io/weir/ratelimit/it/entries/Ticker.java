// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.Resource;
import jakarta.ejb.Schedule;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.Timeout;
import jakarta.ejb.Timer;
import jakarta.ejb.TimerConfig;
import jakarta.ejb.TimerService;
import jakarta.inject.Inject;

/** A schedule and a timer. */
@Startup
@Singleton
public class Ticker {
    @Inject
    Seen seen;

    @Resource
    TimerService timers;

    @PostConstruct
    void start() {
        timers.createIntervalTimer(1000, 1000, new TimerConfig(null, false));
    }

    @Schedule(hour = "*", minute = "*", second = "*", persistent = false)
    @RateLimit("schedule")
    public void run() {
        seen.add("schedule", "run");
    }

    @Timeout
    @RateLimit("timer")
    public void timeout(Timer timer) {
        seen.add("timer", "run");
    }
}
