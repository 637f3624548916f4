// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.health;

import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.engine.StoreHealth.Report;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/** Tells how the store is, and never that the instance is dead: a restart brings no store back. */
@Liveness
@Singleton
public class RateLimitLiveness implements HealthCheck {
    private final RateLimitExtension deployment;

    /**
     * A check.
     *
     * @param deployment knows what was deployed
     */
    @Inject
    public RateLimitLiveness(RateLimitExtension deployment) {
        this.deployment = deployment;
    }

    @Override
    public HealthCheckResponse call() {
        Report report = deployment.runtime().health().report();
        return StoreData.response(report, true);
    }
}
