// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The metrics of Micrometer, as Prometheus reads them. */
class MetricsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resource.class))
            .overrideConfigKey("ratelimit.policies.measured.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.measured.key", "global");

    @TestHTTPResource
    URI base;

    @Test
    void decisionsAreCountedAndTimed() {
        Client client = new Client(base);
        assertThat(client.get("measured").statusCode()).isEqualTo(200);
        assertThat(client.get("measured").statusCode()).isEqualTo(429);
        assertThat(client.get("q/metrics").body())
                .containsPattern("ratelimit_decisions_total\\{[^}]*outcome=\"allowed\"[^}]*} 1\\.0")
                .containsPattern("ratelimit_decisions_total\\{[^}]*outcome=\"rejected\"[^}]*} 1\\.0")
                .containsPattern("ratelimit_utilization_bucket\\{[^}]*le=\"0\\.5\"[^}]*}");
    }

    @Path("measured")
    public static class Resource {
        @GET
        @RateLimit("measured")
        public Uni<String> measured() {
            return Uni.createFrom().item("done");
        }
    }
}
