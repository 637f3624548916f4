// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

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

/** On each server, an application that answers refusals itself. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
class OwnMapperIT {
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
    void itsMapperAnswersWhoeverRefusesAndWeirAddsTheFields(String resource) {
        assertThat(get(resource).body()).isEqualTo(resource);
        HttpResponse<String> refused = get(resource);
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.body()).isEqualTo("own [once]");
        assertThat(Refusal.seconds(refused)).isEqualTo(Refusal.number(refused, "Retry-After"));
        assertThat(Refusal.field(refused, "Cache-Control")).contains("no-store");
        assertThat(Refusal.field(refused, "RateLimit-Policy")).isEqualTo("\"once\";q=1;w=3600");
    }

    @Test
    void underAPolicyThatTellsNothingItIsAddedNoQuota() {
        assertThat(get("secret").body()).isEqualTo("secret");
        HttpResponse<String> refused = get("secret");
        assertThat(refused.body()).isEqualTo("own [secret]");
        assertThat(Refusal.number(refused, "Retry-After")).isPositive();
        Refusal.verifyNoQuota(refused);
    }

    @Test
    void itsMapperAnswersForAStoreThatIsAway() {
        HttpResponse<String> unavailable = get("unavailable");
        assertThat(unavailable.statusCode()).isEqualTo(503);
        assertThat(unavailable.body()).isEqualTo("own timeout");
    }
}
