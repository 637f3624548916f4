// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.URI;
import java.net.URL;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The application contract on each server, with the build variant of the application. */
@Tag("ci")
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ApplicationVariantIT extends EnterpriseContract {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return ApplicationBuild.variant().application();
    }

    @Override
    URI base() {
        return Http.loopback(base);
    }
}
