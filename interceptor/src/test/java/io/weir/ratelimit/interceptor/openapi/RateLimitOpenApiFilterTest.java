// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.weir.ratelimit.fixtures.LogCapture;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.eclipse.microprofile.openapi.OASFactory;
import org.junit.jupiter.api.Test;

class RateLimitOpenApiFilterTest {
    @Test
    void theDefaultConfigurationNamesTheFilter() throws IOException {
        Properties ours = new Properties();
        try (InputStream in =
                RateLimitOpenApiFilter.class.getResourceAsStream("/META-INF/microprofile-config.properties")) {
            ours.load(in);
        }

        assertThat(ours)
                .containsEntry("mp.openapi.filter", RateLimitOpenApiFilter.class.getName())
                .containsEntry("config_ordinal", "50");
    }

    @Test
    void logsAFailureWithoutADeployment() {
        try (LogCapture log = new LogCapture()) {
            assertThatCode(() -> new RateLimitOpenApiFilter().filterOpenAPI(OASFactory.createOpenAPI()))
                    .doesNotThrowAnyException();

            assertThat(log.lines())
                    .containsExactly(
                            "WARNING WEIR-312 The OpenAPI document does not describe the limits, because an error occurred.");
        }
    }
}
