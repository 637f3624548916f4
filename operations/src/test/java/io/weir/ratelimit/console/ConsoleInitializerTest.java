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

/** The registration of the console servlet. The access settings are not available here, so the servlet is added. */
class ConsoleInitializerTest {
    /** A servlet of the application. */
    public static final class ApplicationServlet extends HttpServlet {
        @Serial
        private static final long serialVersionUID = 1;
    }

    @ApplicationPath("/ratelimit/")
    private static final class SamePath extends Application {}

    @ApplicationPath("ratelimits")
    private static final class OtherPath extends Application {}

    private static Map<String, Collection<String>> mappings(String path, Class<?>... applications) throws Exception {
        DeploymentInfo deployment = Servlets.deployment()
                .setClassLoader(ConsoleInitializerTest.class.getClassLoader())
                .setContextPath("/")
                .setDeploymentName("app")
                .addServlet(Servlets.servlet("application", ApplicationServlet.class)
                        .addMapping(path))
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
    void isAServiceOfTheContainer() {
        assertThat(ServiceLoader.load(ServletContainerInitializer.class))
                .hasAtLeastOneElementOfType(ConsoleInitializer.class);
    }

    @Test
    void addsTheConsoleNextToTheApplication() throws Exception {
        assertThat(mappings("/api/*", OtherPath.class).get(ConsoleServlet.class.getName()))
                .containsExactly("/ratelimit/*");
    }

    @Test
    void doesNotReplaceAServletOfTheApplication() throws Exception {
        Map<String, Collection<String>> mappings = mappings("/ratelimit/*");
        assertThat(mappings.get("application")).containsExactly("/ratelimit/*");
        assertThat(mappings.getOrDefault(ConsoleServlet.class.getName(), Set.of()))
                .isEmpty();
    }

    @Test
    void doesNotReplaceARestApplication() throws Exception {
        assertThat(mappings("/api/*", SamePath.class)).doesNotContainKey(ConsoleServlet.class.getName());
    }
}
