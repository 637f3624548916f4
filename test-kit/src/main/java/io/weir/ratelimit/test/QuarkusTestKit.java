// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Instant;

/**
 * The test kit in a {@code @QuarkusTest}, whose beans tests inject: {@link RateLimitClock} and {@link RateLimits}. The Quarkus extension
 * adds this class to applications that a test starts.
 */
public class QuarkusTestKit {
    private final TestEnvironment environment = new TestEnvironment(Instant.parse(WeirTest.DEFAULT_NOW));

    /** Creates the kit; for Quarkus. */
    public QuarkusTestKit() {}

    /** Produces what the limits of the application use. */
    @Produces
    @Singleton
    public EngineEnvironment environment() {
        return environment;
    }

    /** Produces the clock, which only tests move. */
    @Produces
    @Singleton
    public RateLimitClock clock() {
        return environment.clock();
    }

    /** Produces the limits. Their limiter exists after the start. */
    @Produces
    @Singleton
    public RateLimits limits(Instance<RateLimiter> limiter, Instance<HostedWeir> weir) {
        return new EngineLimits(environment, limiter::get, weir::get);
    }

    void rejected(@Observes RateLimitRejected event) {
        environment.events().add(event);
    }

    void reached(@Observes QuotaThresholdReached event) {
        environment.events().add(event);
    }

    void imposed(@Observes PenaltyImposed event) {
        environment.events().add(event);
    }

    void changed(@Observes BackendStateChanged event) {
        environment.events().add(event);
    }
}
