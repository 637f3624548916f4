// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.URI;
import java.net.URL;
import java.util.UUID;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The release of slots on each server, with the local backend. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class SlotsInProcessIT implements SlotContract {
    private final String client = UUID.randomUUID().toString();

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.of("slots");
    }

    @Override
    public URI base() {
        return Http.loopback(base);
    }

    @Override
    public String client() {
        return client;
    }
}
