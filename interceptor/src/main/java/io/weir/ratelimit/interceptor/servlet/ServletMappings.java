// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import jakarta.servlet.Registration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The URL patterns of the servlets of a WAR that Jakarta REST can be; none if a filter serves it. The class is loaded only if the Servlet
 * API is visible.
 */
public record ServletMappings(Set<String> patterns, boolean jersey) {
    private static final String APPLICATION = "jakarta.ws.rs.Application";
    private static final String JERSEY = "org.glassfish.jersey.";

    /** Servlets and filters of these packages serve requests of Jakarta REST. Other servlets of Open Liberty serve SOAP. */
    private static final Set<String> RUNTIMES =
            Set.of(JERSEY, "org.jboss.resteasy.", "io.openliberty.", "com.ibm.websphere.jaxrs.");

    /** The servlets of the server for files and pages, and that of the console. */
    private static final Set<String> OTHERS =
            Set.of(".DefaultServlet", ".JspServlet", "io.weir.ratelimit.console.ConsoleServlet");

    public static ServletMappings of(ServletContext context) {
        Collection<? extends ServletRegistration> servlets =
                context.getServletRegistrations().values();
        Set<String> patterns = new TreeSet<>();
        if (context.getFilterRegistrations().values().stream().noneMatch(ServletMappings::isRuntime)) {
            servlets.stream()
                    .filter(servlet -> OTHERS.stream().noneMatch(className(servlet)::endsWith))
                    .forEach(servlet -> patterns.addAll(servlet.getMappings()));
        }
        boolean jersey =
                servlets.stream().anyMatch(servlet -> className(servlet).startsWith(JERSEY));
        return new ServletMappings(paths(patterns), jersey);
    }

    /** Returns the REST applications of a WAR: their servlets have the name of the class, or a parameter with it. */
    public static Set<Class<?>> applications(ServletContext context) {
        return context.getServletRegistrations().entrySet().stream()
                .filter(servlet -> isRuntime(servlet.getValue()))
                .flatMap(servlet -> Stream.of(
                        servlet.getKey(),
                        Objects.requireNonNullElse(servlet.getValue().getInitParameter(APPLICATION), "")))
                .flatMap(name -> type(name, context.getClassLoader()).stream())
                .collect(Collectors.toSet());
    }

    private static Optional<Class<?>> type(String name, ClassLoader loader) {
        try {
            return name.isEmpty() ? Optional.empty() : Optional.of(Class.forName(name, false, loader));
        } catch (ClassNotFoundException | LinkageError e) {
            return Optional.empty();
        }
    }

    /** Returns the patterns of paths. Nothing is known if a servlet serves every path. */
    private static Set<String> paths(Set<String> patterns) {
        if (patterns.contains("/") || patterns.contains("/*")) {
            return Set.of();
        }
        Set<String> paths = new TreeSet<>(patterns);
        paths.removeIf(pattern -> !pattern.startsWith("/"));
        return paths;
    }

    /** Returns whether a servlet or a filter is that of a runtime of Jakarta REST. */
    static boolean isRuntime(Registration registration) {
        return RUNTIMES.stream().anyMatch(className(registration)::startsWith);
    }

    private static String className(Registration registration) {
        return registration.getClassName() == null ? "" : registration.getClassName();
    }
}
