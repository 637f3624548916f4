// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.test.RemoteRateLimits;
import java.net.URL;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application with exception mappers for rejections, on each server. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class CustomMapperIT {
    private final String client = UUID.randomUUID().toString();

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.of("mapper");
    }

    private HttpResponse<String> get(String resource) {
        return Http.get(Http.loopback(base).resolve("api/mapped/" + resource), "X-Client", client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"filter", "bean"})
    void mapperWritesTheBodyAndWeirAddsTheHeaders(String resource) {
        assertThat(get(resource).body()).isEqualTo(resource);
        HttpResponse<String> rejected = get(resource);
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.body()).isEqualTo("mapped [once]");
        assertThat(LimitResponse.seconds(rejected)).isEqualTo(LimitResponse.number(rejected, "Retry-After"));
        assertThat(LimitResponse.field(rejected, "Cache-Control")).contains("no-store");
        assertThat(LimitResponse.field(rejected, "RateLimit-Policy")).isEqualTo("\"once\";q=1;w=3600");
    }

    @Test
    void minimalDisclosureAddsNoQuotaHeaders() {
        assertThat(get("secret").body()).isEqualTo("secret");
        HttpResponse<String> rejected = get("secret");
        assertThat(rejected.body()).isEqualTo("mapped [secret]");
        assertThat(LimitResponse.number(rejected, "Retry-After")).isPositive();
        LimitResponse.verifyNoQuota(rejected);
    }

    @Test
    void withoutTheTestKitItsCommandsHaveNoEffect() {
        RemoteRateLimits none = RemoteRateLimits.at(Http.loopback(base).resolve("api/mapped/filter"));
        assertThatThrownBy(none::resetAll)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has not answered \"reset-all\": status ");
    }

    @Test
    void mapperHandlesAnUnavailableBackend() {
        HttpResponse<String> unavailable = get("unavailable");
        assertThat(unavailable.statusCode()).isEqualTo(503);
        assertThat(unavailable.body()).isEqualTo("mapped timeout");
    }
}
