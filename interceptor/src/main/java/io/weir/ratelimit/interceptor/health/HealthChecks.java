// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.health;

import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.BackendHealth.Report;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.inject.Singleton;
import java.lang.annotation.Annotation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponse.Status;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/**
 * The health checks {@code ratelimit}, which report the state of the backend. Readiness is down only if the backend is unavailable and
 * {@code ratelimit.health.fail-when-degraded} is set. Liveness is always up, because a restart does not repair the backend.
 */
public final class HealthChecks {
    private HealthChecks() {}

    /** Adds the checks as beans without injection points, which do not depend on the visibility of their archive. */
    public static void addTo(AfterBeanDiscovery event, Class<?> beanClass, Supplier<BackendHealth> health) {
        add(event, beanClass, Readiness.Literal.INSTANCE, readiness(health));
        add(event, beanClass, Liveness.Literal.INSTANCE, liveness(health));
    }

    public static HealthCheck readiness(Supplier<BackendHealth> health) {
        return () -> {
            Report report = health.get().readiness();
            return response(report, report.ready());
        };
    }

    public static HealthCheck liveness(Supplier<BackendHealth> health) {
        return () -> response(health.get().report(), true);
    }

    private static void add(AfterBeanDiscovery event, Class<?> beanClass, Annotation kind, HealthCheck check) {
        event.<HealthCheck>addBean()
                .id(HealthChecks.class.getName() + kind)
                .beanClass(beanClass)
                .types(HealthCheck.class, Object.class)
                .qualifiers(kind)
                .scope(Singleton.class)
                .createWith(context -> check);
    }

    private static HealthCheckResponse response(Report report, boolean up) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("backend", report.backend());
        data.put("state", report.state().text());
        data.put("breaker", report.breakerOpen() ? "open" : "closed");
        if (report.breakerOpen()) {
            // Rounded up, so that a probe has begun after this time.
            data.put(
                    "nextProbeSeconds",
                    report.probeAfter().plusNanos(999_999_999).toSeconds());
        }
        report.lastFailure().ifPresent(reason -> {
            data.put("lastError", reason);
            data.put("lastErrorSecondsAgo", report.lastFailureSecondsAgo());
        });
        data.put("degradedDecisions", report.degradedDecisions());
        return new HealthCheckResponse("ratelimit", up ? Status.UP : Status.DOWN, Optional.of(data));
    }
}
