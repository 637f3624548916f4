// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.ws.rs.core.Application;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ServletMappingsTest {
    private static final String RESTEASY = "org.jboss.resteasy.plugins.server.servlet.HttpServlet30Dispatcher";
    private static final String JERSEY = "org.glassfish.jersey.servlet.ServletContainer";

    private final Map<String, ServletRegistration> servlets = new HashMap<>();
    private final Map<String, FilterRegistration> filters = new HashMap<>();

    private void servlet(String className, String... mappings) {
        servlets.put(
                className + servlets.size(),
                proxy(
                        ServletRegistration.class,
                        (proxy, method, arguments) ->
                                method.getName().equals("getMappings") ? List.of(mappings) : className));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private ServletContext context() {
        return proxy(ServletContext.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "getServletRegistrations" -> servlets;
            case "getClassLoader" -> getClass().getClassLoader();
            default -> filters;
        });
    }

    @Test
    void readsThePatternsOfServlets() {
        servlet(RESTEASY, "/api/*", "/admin/*");
        servlet("com.example.Upload", "/upload", "*.do");
        servlet("org.apache.catalina.servlets.DefaultServlet", "/");
        servlet("io.weir.ratelimit.console.ConsoleServlet", "/ratelimit/*");
        assertThat(ServletMappings.of(context()))
                .isEqualTo(new ServletMappings(Set.of("/admin/*", "/api/*", "/upload"), false));
    }

    @Test
    void findsTheApplicationsOfARuntime() {
        servlets.put(
                Listed.class.getName(),
                proxy(
                        ServletRegistration.class,
                        (proxy, method, arguments) -> method.getName().equals("getClassName") ? RESTEASY : null));
        servlets.put(
                "rest",
                proxy(
                        ServletRegistration.class,
                        (proxy, method, arguments) ->
                                method.getName().equals("getClassName") ? JERSEY : Other.class.getName()));
        servlets.put(
                String.class.getName(),
                proxy(ServletRegistration.class, (proxy, method, arguments) -> "com.example.Upload"));
        assertThat(ServletMappings.applications(context())).containsExactlyInAnyOrder(Listed.class, Other.class);
    }

    static class Listed extends Application {}

    static class Other extends Application {}

    @Test
    void knowsJersey() {
        servlet(JERSEY, "/api/*");
        servlet(JERSEY, "/admin/*");
        assertThat(ServletMappings.of(context())).isEqualTo(new ServletMappings(Set.of("/admin/*", "/api/*"), true));
    }

    @Test
    void knowsNoPatternIfAServletOrAFilterServesEveryPath() {
        servlet(RESTEASY, "/*");
        servlet("com.example.Upload", "/upload");
        assertThat(ServletMappings.of(context())).isEqualTo(new ServletMappings(Set.of(), false));
        servlets.clear();
        servlet(null, "/");
        assertThat(ServletMappings.of(context())).isEqualTo(new ServletMappings(Set.of(), false));
        servlets.clear();
        servlet(RESTEASY, "/api/*");
        filters.put("rest", proxy(FilterRegistration.class, (proxy, method, arguments) -> JERSEY));
        assertThat(ServletMappings.of(context())).isEqualTo(new ServletMappings(Set.of(), false));
    }
}
