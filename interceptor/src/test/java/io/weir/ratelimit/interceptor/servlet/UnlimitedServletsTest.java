// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.LogCapture;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The log of servlets of Jakarta REST without the filters of this library. */
class UnlimitedServletsTest {
    private static final String FEATURE = "com.example.Feature";
    private static final String RESTEASY = "org.jboss.resteasy.plugins.server.servlet.HttpServlet30Dispatcher";

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static void serve(UnlimitedServlets servlets, String name, String className, int status) {
        serve(servlets, "GET", false, name, className, status);
    }

    private static void serve(
            UnlimitedServlets servlets, String httpMethod, boolean async, String name, String className, int status) {
        ServletRegistration registration = proxy(ServletRegistration.class, (proxy, method, arguments) -> className);
        ServletContext context = proxy(ServletContext.class, (proxy, method, arguments) -> registration);
        HttpServletMapping mapping = proxy(HttpServletMapping.class, (proxy, method, arguments) -> name);
        servlets.check(
                proxy(HttpServletRequest.class, (proxy, method, arguments) -> switch (method.getName()) {
                    case "getHttpServletMapping" -> mapping;
                    case "getMethod" -> httpMethod;
                    case "isAsyncStarted" -> async;
                    default -> context;
                }),
                proxy(HttpServletResponse.class, (proxy, method, arguments) -> status));
    }

    private static List<String> logged(Runnable requests) {
        try (LogCapture log = new LogCapture()) {
            requests.run();
            return List.copyOf(log.lines());
        }
    }

    @Tag("field")
    @Test
    void logsEachServletOfARuntimeOnce() {
        UnlimitedServlets servlets = new UnlimitedServlets(FEATURE, () -> true);
        List<String> lines = logged(() -> {
            serve(servlets, "files", "org.apache.catalina.servlets.DefaultServlet", 200);
            serve(servlets, "App", RESTEASY, 400);
            serve(servlets, "App", RESTEASY, 200);
            serve(servlets, "App", RESTEASY, 200);
            serve(servlets, "Other", "org.glassfish.jersey.servlet.ServletContainer", 204);
        });
        assertThat(lines).hasSize(2).allMatch(line -> line.startsWith("SEVERE WEIR-024 ") && line.contains(FEATURE));
        assertThat(lines.get(0)).contains("The servlet App ");
        assertThat(lines.get(1)).contains("The servlet Other ");
    }

    @Test
    void aFilterThatRedirectsOrDispatchesLaterOrAnswersAPreflightRequestIsNotLogged() {
        UnlimitedServlets servlets = new UnlimitedServlets(FEATURE, () -> true);
        assertThat(logged(() -> {
                    serve(servlets, "App", RESTEASY, 302);
                    serve(servlets, "OPTIONS", false, "App", RESTEASY, 204);
                    serve(servlets, "GET", true, "App", RESTEASY, 200);
                }))
                .isEmpty();
        assertThat(logged(() -> serve(servlets, "App", RESTEASY, 200))).hasSize(1);
    }

    @Test
    void aSoapServiceIsNotLogged() {
        UnlimitedServlets servlets = new UnlimitedServlets(FEATURE, () -> true);
        assertThat(logged(() -> {
                    serve(servlets, "Greeting", "com.ibm.ws.jaxws.webcontainer.LibertyJaxWsServlet", 200);
                    serve(servlets, "App", "com.ibm.websphere.jaxrs.server.IBMRestServlet", 200);
                }))
                .singleElement()
                .asString()
                .contains("The servlet App ");
    }

    @Test
    void anApplicationWithoutPoliciesIsNotLogged() {
        assertThat(logged(() -> serve(new UnlimitedServlets(FEATURE, () -> false), "App", RESTEASY, 200)))
                .isEmpty();
    }
}
