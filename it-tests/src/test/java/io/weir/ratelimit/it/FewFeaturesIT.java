// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A server that lacks what Weir can do without; JWT and OpenAPI are only where they are tested, Health nowhere. */
class FewFeaturesIT {
    @Test
    void openLibertyWithoutMetricsTracesAndFaultTolerance() {
        try (Server server = LibertyServer.named("few-features")
                .without("mpFaultTolerance", "mpMetrics", "mpTelemetry")
                .start()) {
            assertThat(Http.statuses(6, server.baseUri().resolve("api/hello")))
                    .containsExactly(200, 200, 200, 200, 200, 429);

            String log = server.log();
            assertThat(log).doesNotContain("mpMetrics-", "mpTelemetry-", "mpFaultTolerance-");
            assertThat(log)
                    .contains("WEIR-001 rate limits are on: store local")
                    .contains("WEIR-003 metrics are off: neither MicroProfile Metrics nor OpenTelemetry is here for the"
                            + " application; attributes on spans are off: the API of OpenTelemetry is not here for the"
                            + " application");
        }
    }
}
