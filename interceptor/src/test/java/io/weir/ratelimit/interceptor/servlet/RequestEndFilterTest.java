// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.web.WebInitializer;
import io.weir.ratelimit.spi.CallContext;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The end of servlet requests that hold slots. */
class RequestEndFilterTest {
    private static final FilterChain CHAIN = (request, response) -> {};

    private final List<String> released = new ArrayList<>();
    private final RequestState state = new RequestState(CallContext.NONE);
    private final List<AsyncListener> listeners = new ArrayList<>();

    /** The response of each listener; null for that of the context. */
    private final List<@Nullable ServletResponse> responses = new ArrayList<>();

    private DispatcherType dispatcher = DispatcherType.REQUEST;
    private @Nullable RequestState attached = state;
    private boolean async;
    private Consumer<AsyncListener> onAdd = listener -> {};

    private static <T> T proxy(Class<T> type, Map<String, Function<Object[], Object>> calls) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    var call = calls.get(method.getName());
                    if (call == null) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return call.apply(arguments);
                }));
    }

    private AsyncContext context() {
        return proxy(
                AsyncContext.class,
                Map.of(
                        "getResponse",
                                arguments -> {
                                    throw new IllegalStateException("after a dispatch");
                                },
                        "addListener",
                                arguments -> {
                                    AsyncListener listener = (AsyncListener) arguments[0];
                                    responses.add(arguments.length < 3 ? null : (ServletResponse) arguments[2]);
                                    onAdd.accept(listener);
                                    listeners.add(listener);
                                    return null;
                                }));
    }

    private ServletRequest request() {
        return proxy(
                ServletRequest.class,
                Map.of(
                        "getAttribute", arguments -> arguments[0].equals(RequestProperties.STATE) ? attached : null,
                        "getDispatcherType", arguments -> dispatcher,
                        "isAsyncStarted", arguments -> async,
                        "getAsyncContext", arguments -> context()));
    }

    private static ServletResponse response() {
        return proxy(HttpServletResponse.class, Map.of());
    }

    private void serve(FilterChain chain) throws ServletException, IOException {
        new RequestEndFilter(new UnlimitedServlets("a feature", () -> true)).doFilter(request(), response(), chain);
    }

    @Test
    void requestEndsWithItsResponse() throws Exception {
        assertThat(state.holdSlots(() -> released.add("slots"))).isTrue();
        serve((request, response) -> assertThat(released).isEmpty());
        assertThat(released).containsExactly("slots");
        assertThat(state.holdsSlots()).isFalse();
        assertThat(state.holdSlots(() -> released.add("slots")))
                .as("after the end")
                .isFalse();
    }

    @Test
    void failedRequestEnds() {
        state.holdSlots(() -> released.add("slots"));
        assertThatThrownBy(() -> serve((request, response) -> {
                    throw new IOException("the client has disconnected");
                }))
                .isInstanceOf(IOException.class);
        assertThat(released).containsExactly("slots");
    }

    @Test
    void requestWithoutAStateIsLeftAlone() throws Exception {
        attached = null;
        serve(CHAIN);
        assertThat(listeners).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"ASYNC", "ERROR"})
    void requestThatTakesItsSlotInADispatchEndsWithIt(DispatcherType type) throws Exception {
        dispatcher = type;
        attached = null;
        serve((request, response) -> {
            attached = state;
            state.holdSlots(() -> released.add("slots"));
        });
        assertThat(released).containsExactly("slots");
    }

    @Test
    void requestThatTakesItsSlotInADispatchAndContinuesEndsWhenItCompletes() throws Exception {
        dispatcher = DispatcherType.ASYNC;
        attached = new RequestState(CallContext.NONE);
        async = true;
        serve((request, response) -> {
            attached = state;
            state.holdSlots(() -> released.add("slots"));
        });
        assertThat(released).isEmpty();
        listeners.get(0).onComplete(new AsyncEvent(context(), null, null));
        assertThat(released).containsExactly("slots");
    }

    @Test
    void dispatchDoesNotEndARequestThatContinues() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        serve(CHAIN);
        dispatcher = DispatcherType.ASYNC;
        async = false;
        serve(CHAIN);
        assertThat(released).isEmpty();
        listeners.get(0).onComplete(new AsyncEvent(context(), null, null));
        assertThat(released).containsExactly("slots");
    }

    @Test
    void asynchronousRequestWithoutSlotsHasNoListener() throws Exception {
        async = true;
        serve(CHAIN);
        assertThat(listeners).isEmpty();
        assertThat(state.holdSlots(() -> released.add("slots")))
                .as("a later slot")
                .isFalse();
    }

    private enum End {
        COMPLETE {
            @Override
            void report(AsyncListener listener, AsyncEvent event) throws IOException {
                listener.onComplete(event);
            }
        },
        TIMEOUT {
            @Override
            void report(AsyncListener listener, AsyncEvent event) throws IOException {
                listener.onTimeout(event);
            }
        },
        ERROR {
            @Override
            void report(AsyncListener listener, AsyncEvent event) throws IOException {
                listener.onError(event);
            }
        };

        abstract void report(AsyncListener listener, AsyncEvent event) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void asynchronousRequestEndsWithItsEvent(End end) throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        serve(CHAIN);
        assertThat(released).isEmpty();
        assertThat(state.isEndAwaited()).isTrue();
        AsyncEvent event = new AsyncEvent(context(), null, null);
        end.report(listeners.get(0), event);
        listeners.get(0).onComplete(event);
        assertThat(released).containsExactly("slots");
    }

    @Test
    void requestThatWaitsForItsSlotHasAListener() throws Exception {
        async = true;
        state.waitFor(Binding.NONE, new CompletableFuture<>());
        serve(CHAIN);
        assertThat(state.holdSlots(() -> released.add("slots"))).isTrue();
        listeners.get(0).onComplete(new AsyncEvent(context(), null, null));
        assertThat(released).containsExactly("slots");
    }

    @Test
    void dispatchKeepsTheListener() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        serve(CHAIN);
        listeners.remove(0).onStartAsync(new AsyncEvent(context(), null, null));
        assertThat(released).isEmpty();
        listeners.get(0).onComplete(new AsyncEvent(context(), null, null));
        assertThat(released).containsExactly("slots");
    }

    @Test
    @Tag("field")
    void theServerCannotChangeTheStatusForTheListener() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        serve(CHAIN);
        listeners.get(0).onStartAsync(new AsyncEvent(context(), null, null));
        assertThat(responses)
                .hasSize(2)
                .doesNotContainNull()
                .noneMatch(response -> response instanceof HttpServletResponse);
    }

    @Test
    void responseThatCompletesBeforeTheListenerIsThereEndsTheRequest() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        onAdd = listener -> {
            throw new IllegalStateException("completed");
        };
        serve(CHAIN);
        assertThat(released).containsExactly("slots");
    }

    @Test
    void responseThatCompletesWhileTheListenerIsAddedEndsTheRequest() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        onAdd = listener -> async = false;
        serve(CHAIN);
        assertThat(released).containsExactly("slots");
    }

    /** Sets the request as the runtime does. */
    private ServletAccess access(boolean hasFilter) throws ReflectiveOperationException {
        ServletContext application = proxy(
                ServletContext.class,
                Map.of(
                        "getFilterRegistration",
                        arguments -> hasFilter && arguments[0].equals(RequestEndFilter.class.getName())
                                ? proxy(FilterRegistration.class, Map.of())
                                : null));
        HttpServletRequest request = proxy(
                HttpServletRequest.class,
                Map.of(
                        "getServletContext", arguments -> application,
                        "isAsyncStarted", arguments -> async,
                        "getAsyncContext", arguments -> context()));
        ServletAccess access = new ServletAccess();
        inject(access, "request", request);
        inject(access, "response", response());
        return access;
    }

    private static void inject(ServletAccess access, String name, Object object) throws ReflectiveOperationException {
        Field field = ServletAccess.class.getDeclaredField(name);
        field.setAccessible(true);
        field.set(access, object);
    }

    @Test
    void resourceOfAnApplicationWithTheFilterHasNoOtherListener() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        assertThat(access(true).reportsEnd(state)).isTrue();
        assertThat(listeners).isEmpty();
    }

    @Test
    void asynchronousResourceWithoutTheFilterHasAListener() throws Exception {
        async = true;
        state.holdSlots(() -> released.add("slots"));
        assertThat(access(false).reportsEnd(state)).isTrue();
        listeners.get(0).onComplete(new AsyncEvent(context(), null, null));
        assertThat(released).containsExactly("slots");
    }

    @Test
    void endOfOtherResourcesWithoutTheFilterIsNotReported() throws Exception {
        assertThat(access(false).reportsEnd(state)).isFalse();
        assertThat(new ServletAccess().reportsEnd(state)).isFalse();
    }

    @Test
    void filterIsTheFirstOfAllRequests() throws Exception {
        List<String> calls = new ArrayList<>();
        FilterRegistration.Dynamic filter = proxy(
                FilterRegistration.Dynamic.class,
                Map.of(
                        "setAsyncSupported", arguments -> calls.add("async " + arguments[0]) ? null : null,
                        "addMappingForUrlPatterns",
                                arguments -> calls.add(
                                                arguments[0] + " " + arguments[1] + " " + ((Object[]) arguments[2])[0])
                                        ? null
                                        : null));
        ServletContext context = proxy(ServletContext.class, Map.of("addFilter", arguments -> filter));
        ServletContainerInitializer initializer = ServiceLoader.load(ServletContainerInitializer.class).stream()
                .filter(provider -> provider.type().equals(WebInitializer.class))
                .map(ServiceLoader.Provider::get)
                .findFirst()
                .orElseThrow();
        initializer.onStartup(null, context);
        assertThat(calls).containsExactly("async true", "[REQUEST, ASYNC, ERROR] false /*");

        ServletContext second = proxy(ServletContext.class, Map.of("addFilter", arguments -> null));
        initializer.onStartup(null, second);
        assertThat(calls).hasSize(2);
    }
}
