// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.ServletContainerInitializerInfo;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServlet;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.io.Serial;
import java.util.Collection;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Where the page is put. Here no deployment knows yet whether there is to be one, so it is put there, and asks later. */
class ConsoleInitializerTest {
    /** A servlet of the application's. */
    public static final class Own extends HttpServlet {
        @Serial
        private static final long serialVersionUID = 1;
    }

    @ApplicationPath("/ratelimit/")
    private static final class SamePath extends Application {}

    @ApplicationPath("ratelimits")
    private static final class OtherPath extends Application {}

    private static Map<String, Collection<String>> mappings(String own, Class<?>... applications) throws Exception {
        DeploymentInfo deployment = Servlets.deployment()
                .setClassLoader(ConsoleInitializerTest.class.getClassLoader())
                .setContextPath("/")
                .setDeploymentName("app")
                .addServlet(Servlets.servlet("own", Own.class).addMapping(own))
                .addServletContainerInitializer(
                        new ServletContainerInitializerInfo(ConsoleInitializer.class, Set.of(applications)));
        DeploymentManager manager = Servlets.newContainer().addDeployment(deployment);
        manager.deploy();
        Map<String, ? extends ServletRegistration> registrations =
                manager.getDeployment().getServletContext().getServletRegistrations();
        return registrations.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().getMappings()));
    }

    @Test
    void containersFindIt() {
        assertThat(ServiceLoader.load(ServletContainerInitializer.class))
                .hasAtLeastOneElementOfType(ConsoleInitializer.class);
    }

    @Test
    void thePageIsBesideWhatTheApplicationHas() throws Exception {
        assertThat(mappings("/api/*", OtherPath.class).get(ConsoleServlet.class.getName()))
                .containsExactly("/ratelimit/*");
    }

    @Test
    void aPathThatTheApplicationHasStaysItsOwn() throws Exception {
        Map<String, Collection<String>> mappings = mappings("/ratelimit/*");
        assertThat(mappings.get("own")).containsExactly("/ratelimit/*");
        assertThat(mappings.getOrDefault(ConsoleServlet.class.getName(), Set.of()))
                .isEmpty();
    }

    @Test
    void aPathThatRestResourcesHaveStaysTheirs() throws Exception {
        assertThat(mappings("/api/*", SamePath.class)).doesNotContainKey(ConsoleServlet.class.getName());
    }
}
