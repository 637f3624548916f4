// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.http.HttpResponse;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The operators' page, in the application and not enabled. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
class ConsoleOffIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.exampleWith("ratelimit.console.enabled=false");
    }

    @Test
    void nothingIsThere() {
        ConsolePage page = new ConsolePage(Http.loopback(base));
        page.assertAnswers(404);
        HttpResponse<String> other = Http.get(page.base().resolve("elsewhere/"));
        assertThat(page.get("").body().replace("ratelimit", "elsewhere")).isEqualTo(other.body());
        assertThat(page.get("").headers().map().keySet())
                .isEqualTo(other.headers().map().keySet());
        assertThat(Http.get(page.base().resolve("api/health")).statusCode()).isEqualTo(200);
    }
}
