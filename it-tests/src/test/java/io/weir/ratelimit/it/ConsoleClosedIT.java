// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console without a role and not open. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("ci")
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ConsoleClosedIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.exampleWith("ratelimit.console.open=false");
    }

    @Test
    void rejectsEveryRequestWithAnExplanation() {
        ConsolePage page = new ConsolePage(Http.loopback(base));
        page.assertStatus(403);
        assertThat(page.get("").body()).contains("ratelimit.console.role", "ratelimit.console.open");
        assertThat(Http.get(page.base().resolve("api/health")).statusCode()).isEqualTo(200);
    }
}
