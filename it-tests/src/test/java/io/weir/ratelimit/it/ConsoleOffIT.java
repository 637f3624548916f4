// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.http.HttpResponse;
import java.util.List;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console in the application, but disabled. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ConsoleOffIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.exampleWith("ratelimit.console.enabled=false");
    }

    @Test
    void hasNoPath() {
        ConsolePage page = new ConsolePage(Http.loopback(base));
        for (String path : List.of("", "api/v1/instances", "console.js", "api/v1/callers/reset")) {
            assertSame(page.get(path), Http.get(page.base().resolve("elsewhere/" + path)));
            assertThat(page.get(path).statusCode()).isEqualTo(404);
        }
        // WildFly returns 405 for an unknown path.
        assertSame(
                page.post("api/v1/callers/reset", ConsolePage.THIS_CLIENT),
                Http.post(
                        page.base().resolve("elsewhere/api/v1/callers/reset"),
                        "application/json",
                        ConsolePage.THIS_CLIENT));
        assertThat(Http.get(page.base().resolve("api/health")).statusCode()).isEqualTo(200);
    }

    private static void assertSame(HttpResponse<String> response, HttpResponse<String> other) {
        assertThat(response.statusCode()).isEqualTo(other.statusCode());
        assertThat(response.body().replace("ratelimit", "elsewhere")).isEqualTo(other.body());
        assertThat(response.headers().map().keySet())
                .isEqualTo(other.headers().map().keySet());
    }
}
