// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The HTTP contract on each server, with the local backend. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@Tag("http")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class HttpInProcessIT extends HttpContract {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.of("http");
    }

    @Override
    URI base() {
        return Http.loopback(base);
    }

    /** Java 17, for which this class is compiled, has no other way to ask for the kind of a thread. */
    @Test
    void requestsRunOnTheConfiguredKindOfThread() {
        HttpResponse<String> thread = get("api/answer/thread");
        assertThat(thread.body().startsWith("VirtualThread["))
                .as(thread.body())
                .isEqualTo(ApplicationBuild.server().equals("glassfishvirtual"));
    }
}
