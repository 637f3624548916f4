// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.health;

import io.weir.ratelimit.interceptor.engine.StoreHealth.Report;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.health.HealthCheckResponse;

/** What a health check shows of a store. */
final class StoreData {
    private static final String NAME = "ratelimit";

    private StoreData() {}

    static HealthCheckResponse response(Report report, boolean up) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("backend", report.backend());
        data.put("state", report.state().text());
        data.put("breaker", report.breakerOpen() ? "open" : "closed");
        if (report.breakerOpen()) {
            data.put("nextProbeSeconds", seconds(report.untilProbe()));
        }
        report.lastFailure().ifPresent(reason -> {
            data.put("lastError", reason);
            data.put("lastErrorSecondsAgo", report.lastFailureSecondsAgo());
        });
        data.put("degradedDecisions", report.degradedDecisions());
        return new HealthCheckResponse(
                NAME, up ? HealthCheckResponse.Status.UP : HealthCheckResponse.Status.DOWN, Optional.of(data));
    }

    /** Rounded up. */
    private static long seconds(Duration duration) {
        return duration.plusNanos(999_999_999).toSeconds();
    }
}
