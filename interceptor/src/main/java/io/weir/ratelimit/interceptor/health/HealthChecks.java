// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.health;

import io.weir.ratelimit.core.engine.BackendHealth;
import io.weir.ratelimit.core.engine.BackendHealth.Report;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.inject.Singleton;
import java.lang.annotation.Annotation;
import java.time.Duration;
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
 * The checks named {@code ratelimit}, which tell how the store is. Readiness is down only if configuration wants it so and the
 * store is away; liveness never is, since a restart brings no store back.
 */
public final class HealthChecks {
    private static final String NAME = "ratelimit";

    private HealthChecks() {}

    /**
     * Adds the checks to the beans of an application. They have no injection points, so nothing depends on what their archive sees.
     *
     * @param event where beans are added
     * @param neighbour a bean of the archive to which they are to belong
     * @param store how the store is; asked when a check is made
     */
    public static void addTo(AfterBeanDiscovery event, Class<?> neighbour, Supplier<BackendHealth> store) {
        add(event, neighbour, Readiness.Literal.INSTANCE, () -> {
            Report report = store.get().readiness();
            return response(report, report.ready());
        });
        add(
                event,
                neighbour,
                Liveness.Literal.INSTANCE,
                () -> response(store.get().report(), true));
    }

    private static void add(AfterBeanDiscovery event, Class<?> neighbour, Annotation kind, HealthCheck check) {
        event.<HealthCheck>addBean()
                .id(HealthChecks.class.getName() + kind)
                .beanClass(neighbour)
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
            data.put("nextProbeSeconds", seconds(report.probeAfter()));
        }
        report.lastFailure().ifPresent(reason -> {
            data.put("lastError", reason);
            data.put("lastErrorSecondsAgo", report.lastFailureSecondsAgo());
        });
        data.put("degradedDecisions", report.degradedDecisions());
        return new HealthCheckResponse(NAME, up ? Status.UP : Status.DOWN, Optional.of(data));
    }

    /** Rounded up. */
    private static long seconds(Duration duration) {
        return duration.plusNanos(999_999_999).toSeconds();
    }
}
