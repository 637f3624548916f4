// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.health.HealthChecks;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/** The health checks, in an application with the extension for them. */
@Singleton
public class HealthBeans {
    /** Produces the check that reports the state of the backend. */
    @Produces
    @Singleton
    @Readiness
    public HealthCheck readiness(RateLimitExtension extension) {
        return HealthChecks.readiness(() -> extension.application().weir().health());
    }

    /** Produces the check that is always up, because a restart does not repair the backend. */
    @Produces
    @Singleton
    @Liveness
    public HealthCheck liveness(RateLimitExtension extension) {
        return HealthChecks.liveness(() -> extension.application().weir().health());
    }
}
