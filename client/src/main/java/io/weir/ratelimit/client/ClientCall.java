// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.client.outgoing.OutgoingCall;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.client.ClientRequestContext;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A request of a REST client. As the context of key resolvers it has the header and the query of the outgoing request, and the caller of
 * the incoming request, if the thread serves one.
 */
final class ClientCall implements CallContext {
    /** The property by which MicroProfile REST clients pass the called method. */
    private static final String INVOKED_METHOD = "org.eclipse.microprofile.rest.client.invokedMethod";

    /** The property of a client that has its interface. */
    static final String INTERFACE = "io.weir.ratelimit.client.interface";

    private static final Map<String, String> DEFAULT_PORTS = Map.of("http", "80", "https", "443");

    private final ClientRequestContext request;
    private final @Nullable RequestState incoming;

    ClientCall(ClientRequestContext request, Optional<RequestState> incoming) {
        this.request = request;
        this.incoming = incoming.orElse(null);
    }

    /**
     * Returns the call. A client that is null is the one that the request names. The sender sends retries of a call outside of a request.
     */
    OutgoingCall toOutgoing(@Nullable String client, Object sender) {
        URI uri = request.getUri();
        Object entity = request.getEntity();
        return new OutgoingCall(
                client == null ? clientOfRequest() : client,
                host(uri),
                pathTemplate(),
                this,
                new OutgoingCall.Attempt(
                        System.identityHashCode(incoming == null ? sender : incoming),
                        31 * request.getMethod().hashCode() + uri.hashCode(),
                        entity == null ? 0 : System.identityHashCode(entity)),
                request.getProperty(RateLimitClientFilter.RETRY) instanceof Boolean retry ? retry : null,
                request.getProperty(RateLimitClientFilter.DECISION) instanceof Decision decision ? decision : null);
    }

    private String clientOfRequest() {
        if (property(RateLimitClientFilter.CLIENT) instanceof String name) {
            return name;
        }
        Method method = invokedMethod();
        return Optional.ofNullable(method)
                .flatMap(invoked -> annotation(interfaceOf(invoked)))
                .map(OutgoingRateLimit::value)
                .orElseThrow(() -> new IllegalStateException(MESSAGES.text("WEIR-240", RateLimitClientFilter.CLIENT)));
    }

    /** Returns the annotation of an interface, or the nearest one of the interfaces that it extends. */
    static Optional<OutgoingRateLimit> annotation(Class<?> type) {
        Set<Class<?>> types = new LinkedHashSet<>(Set.of(type));
        while (!types.isEmpty()) {
            for (Class<?> each : types) {
                OutgoingRateLimit annotation = each.getAnnotation(OutgoingRateLimit.class);
                if (annotation != null) {
                    return Optional.of(annotation);
                }
            }
            types = types.stream()
                    .flatMap(each -> Arrays.stream(each.getInterfaces()))
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        }
        return Optional.empty();
    }

    private @Nullable Object property(String name) {
        Object ofRequest = request.getProperty(name);
        return ofRequest != null ? ofRequest : request.getConfiguration().getProperty(name);
    }

    private @Nullable Method invokedMethod() {
        return request.getProperty(INVOKED_METHOD) instanceof Method method ? method : null;
    }

    /** Returns the interface of the client, which declares the method or inherits it. */
    private Class<?> interfaceOf(Method method) {
        return property(INTERFACE) instanceof Class<?> type
                        && method.getDeclaringClass().isAssignableFrom(type)
                ? type
                : method.getDeclaringClass();
    }

    private Optional<String> pathTemplate() {
        if (request.getProperty(RateLimitClientFilter.PATH_TEMPLATE) instanceof String template) {
            return Optional.of(template);
        }
        Method method = invokedMethod();
        return method == null
                ? Optional.empty()
                : Optional.of(template(interfaceOf(method).getAnnotation(Path.class))
                        + template(method.getAnnotation(Path.class)));
    }

    private static String template(@Nullable Path path) {
        if (path == null || path.value().isEmpty() || path.value().equals("/")) {
            return "";
        }
        return path.value().startsWith("/") ? path.value() : "/" + path.value();
    }

    /**
     * Returns the host of a URI, with a port that is not the default of the scheme. A host name with an underscore is only a part of the
     * authority for the class URI.
     */
    static String host(URI uri) {
        String authority =
                uri.getRawAuthority() == null ? "" : uri.getRawAuthority().toLowerCase(Locale.ROOT);
        String node = authority.substring(authority.lastIndexOf('@') + 1);
        int colon = node.lastIndexOf(':');
        boolean ported = colon > node.lastIndexOf(']');
        String host = ported ? node.substring(0, colon) : node;
        String port = ported ? node.substring(colon + 1) : "";
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        return port.isEmpty()
                        || port.equals(DEFAULT_PORTS.get(
                                String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT)))
                ? name
                : name + ":" + port;
    }

    /** Returns the lines of a header field by its name in any case. */
    static List<String> lines(Map<String, List<String>> headers, String name) {
        List<String> exact = headers.get(name);
        if (exact != null) {
            return exact;
        }
        for (Map.Entry<String, List<String>> field : headers.entrySet()) {
            if (name.equalsIgnoreCase(field.getKey()) && field.getValue() != null) {
                return field.getValue();
            }
        }
        return List.of();
    }

    @Override
    public Optional<String> peerAddress() {
        return Optional.empty();
    }

    @Override
    public Optional<String> principal() {
        return incoming == null ? Optional.empty() : incoming.caller().principal();
    }

    @Override
    public Optional<String> claim(String name) {
        return incoming == null ? Optional.empty() : incoming.caller().claim(name);
    }

    @Override
    public boolean isInRole(String role) {
        return incoming != null && incoming.caller().isInRole(role);
    }

    @Override
    public Optional<String> header(String name) {
        return headerLines(name).stream().findFirst();
    }

    @Override
    public List<String> headerLines(String name) {
        return lines(request.getStringHeaders(), name);
    }

    @Override
    public Optional<String> queryParameter(String name) {
        String query = request.getUri().getRawQuery();
        if (query == null) {
            return Optional.empty();
        }
        for (String parameter : query.split("&", -1)) {
            int equals = parameter.indexOf('=');
            if (equals > 0 && decoded(parameter.substring(0, equals)).equals(name)) {
                return Optional.of(decoded(parameter.substring(equals + 1)));
            }
        }
        return Optional.empty();
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.empty();
    }
}
