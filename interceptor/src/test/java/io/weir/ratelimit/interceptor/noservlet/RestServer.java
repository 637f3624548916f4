// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.noservlet;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.RuntimeDelegate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.jspecify.annotations.Nullable;

/** Jersey on the HTTP server of the JDK, with beans by Weld SE. */
final class RestServer implements AutoCloseable {
    private static final ThreadLocal<String> PEER = new ThreadLocal<>();

    private final Config config;
    private final SeContainer beans;
    private final HttpServer server;

    private RestServer(Map<String, String> properties, @Nullable Executor executor, Class<?>[] classes)
            throws IOException {
        config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new PropertiesConfigSource(properties, "application", 100))
                .build();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        ConfigProviderResolver configs = ConfigProviderResolver.instance();
        configs.releaseConfig(configs.getConfig(loader));
        configs.registerConfig(config, loader);
        beans = SeContainerInitializer.newInstance().addBeanClasses(classes).initialize();
        Set<Class<?>> all = Stream.concat(Stream.of(classes), Stream.of(PeerFilter.class))
                .filter(type -> type.isAnnotationPresent(Path.class) || isProvider(type))
                .collect(Collectors.toSet());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        HttpContext context = server.createContext(
                "/api/",
                RuntimeDelegate.getInstance()
                        .createEndpoint(
                                new Application() {
                                    @Override
                                    public Set<Class<?>> getClasses() {
                                        return all;
                                    }
                                },
                                HttpHandler.class));
        context.getFilters().add(new PeerKeeper());
        server.setExecutor(executor);
        server.start();
    }

    private static boolean isProvider(Class<?> type) {
        return ExceptionMapper.class.isAssignableFrom(type) || ContainerRequestFilter.class.isAssignableFrom(type);
    }

    /** Starts a server; each class is a resource, a provider or a bean. */
    static RestServer start(Map<String, String> properties, Class<?>... classes) {
        return start(properties, null, classes);
    }

    /**
     * Starts a server.
     *
     * @param executor runs the requests; null for the thread that accepts connections
     * @param classes resources, providers and beans
     */
    static RestServer start(Map<String, String> properties, @Nullable Executor executor, Class<?>... classes) {
        try {
            return new RestServer(properties, executor, classes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Keeps the address of the peer for the thread of the exchange. */
    private static final class PeerKeeper extends Filter {
        @Override
        public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
            PEER.set(exchange.getRemoteAddress().getAddress().getHostAddress());
            try {
                chain.doFilter(exchange);
            } finally {
                PEER.remove();
            }
        }

        @Override
        public String description() {
            return "keeps the address of the peer";
        }
    }

    /** Sets the address of the peer, as an application on this runtime does. */
    @PreMatching
    @Priority(50)
    public static class PeerFilter implements ContainerRequestFilter {
        @Override
        public void filter(ContainerRequestContext request) {
            request.setProperty(RequestProperties.PEER_ADDRESS, PEER.get());
        }
    }

    /** A response: the status, the header fields in lower case, and the body. */
    record Reply(int status, Map<String, String> fields, String body) {}

    /** Sends a GET request from a local address. */
    Reply get(String path, String from) {
        try (Socket socket = new Socket(
                InetAddress.getLoopbackAddress(), server.getAddress().getPort(), InetAddress.getByName(from), 0)) {
            socket.setSoTimeout(10_000);
            String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int end = text.indexOf("\r\n\r\n");
            List<String> lines = List.of(text.substring(0, end).split("\r\n", -1));
            Map<String, String> fields = new HashMap<>();
            for (String line : lines.subList(1, lines.size())) {
                fields.put(
                        line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT),
                        line.substring(line.indexOf(':') + 1).strip());
            }
            return new Reply(Integer.parseInt(lines.get(0).split(" ", 3)[1]), fields, text.substring(end + 4));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Reply get(String path) {
        return get(path, "127.0.0.1");
    }

    <T> T bean(Class<T> type) {
        return beans.select(type).get();
    }

    @Override
    public void close() {
        server.stop(0);
        beans.close();
        ConfigProviderResolver.instance().releaseConfig(config);
    }
}
