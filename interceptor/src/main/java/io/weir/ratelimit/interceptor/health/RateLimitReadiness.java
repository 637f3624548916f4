// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.health;

import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.engine.StoreHealth.Report;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Tells how the store is. Down only if {@code ratelimit.health.fail-when-degraded} says so and the store is away. */
@Readiness
@Singleton
public class RateLimitReadiness implements HealthCheck {
    private final RateLimitExtension deployment;

    /**
     * A check.
     *
     * @param deployment knows what was deployed
     */
    @Inject
    public RateLimitReadiness(RateLimitExtension deployment) {
        this.deployment = deployment;
    }

    @Override
    public HealthCheckResponse call() {
        Report report = deployment.runtime().health().readiness();
        return StoreData.response(report, report.ready());
    }
}
