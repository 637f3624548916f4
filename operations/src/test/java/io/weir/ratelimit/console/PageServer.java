// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.undertow.Undertow;
import io.undertow.security.api.AuthenticationMode;
import io.undertow.security.idm.Account;
import io.undertow.security.idm.Credential;
import io.undertow.security.idm.IdentityManager;
import io.undertow.security.idm.PasswordCredential;
import io.undertow.server.HttpHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.api.InstanceFactory;
import io.undertow.servlet.api.InstanceHandle;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.local.LocalBackend;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.Principal;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A servlet container with the console under the context root {@code /app}. */
final class PageServer implements AutoCloseable {
    final FakeOperations operations = new FakeOperations();
    final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);
    final LiveRates rates = new LiveRates(nanos::get);
    private final CallerQuotas.Logins logins = new CallerQuotas.Logins(
            call -> Identity.address(call.peerAddress().orElseThrow()),
            new IdentityEncoder(Optional.empty()),
            new LocalBackend(100, () -> TimeUnit.NANOSECONDS.toMicros(nanos.get())));

    /** The host name of this instance. */
    volatile String host = "host-1";

    volatile String version = "1.0";

    /** The fleet; null before the first request. */
    volatile @Nullable FleetConsole fleet;

    private final Undertow server;

    private PageServer(boolean login) throws ServletException {
        Servlet page = new ConsoleServlet(new ConsoleResource(this::console, Clock.systemUTC(), System::nanoTime));
        InstanceFactory<Servlet> factory = () -> new InstanceHandle<>() {
            @Override
            public Servlet getInstance() {
                return page;
            }

            @Override
            public void release() {}
        };
        DeploymentInfo deployment = Servlets.deployment()
                .setClassLoader(PageServer.class.getClassLoader())
                .setContextPath("/app")
                .setDeploymentName("app")
                .addServlet(Servlets.servlet("page", Servlet.class, factory).addMapping("/ratelimit/*"));
        if (login) {
            deployment
                    .setIdentityManager(new SomeUsers())
                    // The server checks no credentials before the servlet does, as Open Liberty.
                    .setAuthenticationMode(AuthenticationMode.CONSTRAINT_DRIVEN)
                    .setLoginConfig(Servlets.loginConfig("BASIC", "test"))
                    .addSecurityRoles("operator", "other", "changer");
        }
        DeploymentManager manager = Servlets.defaultContainer().addDeployment(deployment);
        manager.deploy();
        HttpHandler application = manager.start();
        server = Undertow.builder()
                .addHttpListener(0, "127.0.0.1")
                .setHandler(exchange -> {
                    if (exchange.getRequestPath().startsWith("/app/")) {
                        exchange.setRelativePath(exchange.getRequestPath().substring("/app".length()));
                        exchange.setResolvedPath("/app");
                        application.handleRequest(exchange);
                    } else {
                        exchange.setStatusCode(404);
                    }
                })
                .setWorkerThreads(8)
                .setIoThreads(2)
                .build();
        server.start();
    }

    private Console console() {
        FleetConsole created = FleetConsole.of(
                operations,
                rates,
                () -> new InstanceReport.Origin(host, "4711-3f2a", version, "test server 1", "17", Instant.EPOCH),
                Clock.systemUTC(),
                nanos::get);
        fleet = created;
        return new Console(operations, created, logins);
    }

    static PageServer start() throws ServletException {
        return new PageServer(false);
    }

    /**
     * Starts a server with the users {@code operator}, {@code changer} and {@code other}, whose roles equal their names, and {@code ann} and {@code ben}, who
     * have the roles {@code operator} and {@code changer}. Passwords equal names.
     */
    static PageServer withLogin() throws ServletException {
        return new PageServer(true);
    }

    int port() {
        return ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
    }

    URI at(String path) {
        return URI.create("http://127.0.0.1:" + port() + "/app" + path);
    }

    @Override
    public void close() {
        server.stop();
    }

    private static final class SomeUsers implements IdentityManager {
        @Override
        public Account verify(Account account) {
            return account;
        }

        @Override
        public Account verify(String id, Credential credential) {
            boolean valid = Set.of("operator", "other", "changer", "ann", "ben").contains(id)
                    && credential instanceof PasswordCredential password
                    && id.equals(new String(password.getPassword()));
            return valid ? new User(id) : null;
        }

        @Override
        public Account verify(Credential credential) {
            return null;
        }
    }

    private record User(String name) implements Account {
        @Override
        public Principal getPrincipal() {
            return () -> name;
        }

        @Override
        public Set<String> getRoles() {
            return Set.of("ann", "ben").contains(name) ? Set.of("operator", "changer") : Set.of(name);
        }
    }
}
