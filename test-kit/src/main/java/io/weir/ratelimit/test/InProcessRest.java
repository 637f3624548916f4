// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.test.rest.RestAdapter;
import io.weir.ratelimit.test.rest.RestResponse;
import jakarta.enterprise.context.control.RequestContextController;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.ext.Provider;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.security.Principal;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Flow;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The REST runtime of the class path, with the classes of a test. */
final class InProcessRest implements RestRuntime {
    private static final URI ROOT = URI.create("http://localhost/");

    private final RestAdapter adapter;
    private final URI base;
    private final User user;
    private final String address;

    private InProcessRest(RestAdapter adapter, URI base, User user, String address) {
        this.adapter = adapter;
        this.base = base;
        this.user = user;
        this.address = address;
    }

    /**
     * Starts the runtime in the current CDI container.
     *
     * @param classes the classes of the test: an {@link Application}, or resources and providers; others are left out
     */
    static RestRuntime start(List<Class<?>> classes) {
        Optional<Application> declared = classes.stream()
                .filter(Application.class::isAssignableFrom)
                .findFirst()
                .map(type -> create(type.asSubclass(Application.class)));
        Set<Class<?>> rest = classes.stream()
                .filter(type -> type.isAnnotationPresent(Path.class) || type.isAnnotationPresent(Provider.class))
                .collect(Collectors.toSet());
        return new InProcessRest(
                RestAdapter.of(declared.filter(InProcessRest::listsClasses).orElseGet(() -> new Listed(rest))),
                base(declared),
                User.NONE,
                "127.0.0.1");
    }

    private static Application create(Class<? extends Application> type) {
        try {
            return type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(type.getName() + " needs a public constructor without parameters", e);
        }
    }

    /** Whether an application lists its classes. A server finds those of others by a scan. */
    private static boolean listsClasses(Application application) {
        return !application.getClasses().isEmpty();
    }

    private static URI base(Optional<Application> application) {
        return application
                .map(declared -> declared.getClass().getAnnotation(ApplicationPath.class))
                .map(path -> path.value().replaceFirst("^/", ""))
                .filter(path -> !path.isEmpty())
                .map(path -> ROOT.resolve(path.endsWith("/") ? path : path + "/"))
                .orElse(ROOT);
    }

    /** An application of given classes. */
    private static final class Listed extends Application {
        private final Set<Class<?>> classes;

        Listed(Set<Class<?>> classes) {
            this.classes = classes;
        }

        @Override
        public Set<Class<?>> getClasses() {
            return classes;
        }
    }

    @Override
    public URI uri(String path) {
        return ROOT.resolve(path);
    }

    @Override
    public RestRuntime as(String name, String... roles) {
        return new InProcessRest(adapter, base, new User(name, Set.copyOf(Arrays.asList(roles))), address);
    }

    @Override
    public RestRuntime from(String peer) {
        return new InProcessRest(adapter, base, user, peer);
    }

    @Override
    public HttpResponse<String> send(HttpRequest request) {
        if (!request.uri().toString().startsWith(ROOT.toString())) {
            throw new IllegalArgumentException("the URI " + request.uri() + " does not begin with " + ROOT);
        }
        if (!request.uri().getPath().startsWith(base.getPath())) {
            return new RestResponse(request, RestAdapter.Reply.of(404));
        }
        Map<String, Object> properties = new HashMap<>(Map.of(RequestProperties.PEER_ADDRESS, address));
        RestAdapter.Call call = new RestAdapter.Call(
                request.method(), base, request.uri(), request.headers().map(), body(request), user, properties);
        return new RestResponse(request, inRequestScope(call));
    }

    /** Calls the runtime in a request scope, which a server would start, and ends the request, which a server would report. */
    private RestAdapter.Reply inRequestScope(RestAdapter.Call call) {
        RequestContextController scope =
                CDI.current().select(RequestContextController.class).get();
        boolean activated = scope.activate();
        try {
            return adapter.call(call);
        } finally {
            if (call.properties().get(RequestProperties.STATE) instanceof RequestState state) {
                state.end();
            }
            if (activated) {
                scope.deactivate();
            }
        }
    }

    private static InputStream body(HttpRequest request) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        request.bodyPublisher()
                .ifPresent(publisher -> publisher.subscribe(new Flow.Subscriber<>() {
                    @Override
                    public void onSubscribe(Flow.Subscription subscription) {
                        subscription.request(Long.MAX_VALUE);
                    }

                    @Override
                    public void onNext(ByteBuffer next) {
                        byte[] part = new byte[next.remaining()];
                        next.get(part);
                        bytes.writeBytes(part);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        throw new IllegalArgumentException("the body of " + request.uri() + " cannot be read", failure);
                    }

                    @Override
                    public void onComplete() {}
                }));
        return new ByteArrayInputStream(bytes.toByteArray());
    }

    /**
     * The user of a request.
     *
     * @param name the name, null if the request has no user
     */
    private record User(@Nullable String name, Set<String> roles) implements SecurityContext {
        static final User NONE = new User(null, Set.of());

        @Override
        public @Nullable Principal getUserPrincipal() {
            String known = name;
            return known == null ? null : () -> known;
        }

        @Override
        public boolean isUserInRole(String role) {
            return roles.contains(role);
        }

        @Override
        public boolean isSecure() {
            return false;
        }

        @Override
        public @Nullable String getAuthenticationScheme() {
            return name == null ? null : BASIC_AUTH;
        }
    }
}
