// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.cdi.MethodNames;
import io.weir.ratelimit.interceptor.cdi.Tokens;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Cookie;
import jakarta.ws.rs.core.MultivaluedHashMap;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.core.UriInfo;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RestCallTest {
    private final MultivaluedMap<String, String> headers = new MultivaluedHashMap<>();
    private final MultivaluedMap<String, String> query = new MultivaluedHashMap<>();
    private final MultivaluedMap<String, String> path = new MultivaluedHashMap<>();
    private final Map<String, Object> answers = new HashMap<>(Map.of(
            "getHeaders",
            headers,
            "getCookies",
            Map.of("id", new Cookie.Builder("id").value("s3cret").build()),
            "getUriInfo",
            fake(UriInfo.class, Map.of("getQueryParameters", query, "getPathParameters", path))));
    private final RestCall call = by(() -> "alice");

    private RestCall by(@Nullable Principal user) {
        answers.put("getSecurityContext", user(user));
        RestCall matched = RestCall.matched(
                fake(ContainerRequestContext.class, answers), null, new Search(), MethodNames.of(Set.of()));
        answers.remove("getSecurityContext");
        return matched;
    }

    private static SecurityContext user(@Nullable Principal user) {
        return fake(SecurityContext.class, user == null ? Map.of() : Map.of("getUserPrincipal", user));
    }

    /** A resource method. */
    private static final class Search implements ResourceInfo {
        @Override
        public Method getResourceMethod() {
            try {
                return Search.class.getMethod("getResourceMethod");
            } catch (NoSuchMethodException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public Class<?> getResourceClass() {
            return Search.class;
        }
    }

    /** Returns an object that answers each method by its name, with null for the others. */
    private static <T> T fake(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.get(method.getName())));
    }

    @Test
    void readsTheFirstOfSeveralHeaderLines() {
        headers.put("x-key", List.of("a", "b"));
        headers.put("empty", List.of());
        assertThat(call.header("x-key")).contains("a");
        assertThat(call.headerLines("x-key")).containsExactly("a", "b");
        assertThat(call.header("empty")).isEmpty();
        assertThat(call.header("other")).isEmpty();
        assertThat(call.headerLines("other")).isEmpty();
    }

    @Test
    void readsCookiesAndTheFirstOfSeveralParameters() {
        query.put("tenant", List.of("a b", "c"));
        path.put("org", List.of("inner", "outer"));
        assertThat(call.cookie("id")).contains("s3cret");
        assertThat(call.cookie("ID")).isEmpty();
        assertThat(call.queryParameter("tenant")).contains("a b");
        assertThat(call.queryParameter("org")).isEmpty();
        assertThat(call.pathParameter("org")).contains("inner");
        assertThat(call.pathParameter("tenant")).isEmpty();
        assertThat(call.method()).contains("Search.getResourceMethod");
    }

    @Test
    void readsClaimsOfTheTokenAndRolesOfTheRequest() {
        assertThat(by(Tokens.of("plan", "free")).claim("plan")).contains("free");
        assertThat(by(Tokens.of("plan", "free")).principal()).contains("alice");
        assertThat(call.claim("plan")).isEmpty();
        assertThat(call.isInRole("true")).isFalse();
        Principal alice = () -> "alice";
        answers.put(
                "getSecurityContext",
                fake(SecurityContext.class, Map.of("isUserInRole", true, "getUserPrincipal", alice)));
        assertThat(call.isInRole("admin")).isTrue();
    }

    /** The filter has decided before the resource logs the caller in. */
    @Test
    void aResourceCanLogTheCallerIn() {
        RestCall visitor = by(null);
        RestCall early = RestCall.early(fake(ContainerRequestContext.class, answers), null);
        assertThat(visitor.principal()).isEmpty();
        answers.put("getSecurityContext", user(Tokens.of("plan", "free")));
        assertThat(visitor.principal()).contains("alice");
        assertThat(visitor.claim("plan")).contains("free");
        assertThat(early.principal()).isEmpty();
        answers.put("getSecurityContext", user(() -> "bob"));
        assertThat(call.principal()).as("a known user stays").contains("alice");
    }

    @Test
    void aPropertyNamesThePeerWithoutAServlet() {
        assertThat(call.peerAddress()).isEmpty();
        String own = RequestProperties.PEER_ADDRESS;
        String ofHelidon = "io.helidon.jaxrs.remote-host";
        assertThat(peer(Map.of(own, "203.0.113.7"))).contains("203.0.113.7");
        assertThat(peer(Map.of(ofHelidon, "203.0.113.8"))).contains("203.0.113.8");
        assertThat(peer(Map.of(own, "203.0.113.7", ofHelidon, "203.0.113.8"))).contains("203.0.113.7");
        assertThat(peer(Map.of(own, 7, ofHelidon, 8))).isEmpty();
        assertThat(peer(Map.of("other", "203.0.113.9"))).isEmpty();
    }

    /** The Servlet API can be on the class path of a runtime without servlets. */
    private static List<@Nullable ServletAccess> accesses() {
        ServletAccess failing = new ServletAccess();
        try {
            Field request = ServletAccess.class.getDeclaredField("request");
            request.setAccessible(true);
            request.set(
                    failing,
                    Proxy.newProxyInstance(
                            RestCallTest.class.getClassLoader(),
                            new Class<?>[] {HttpServletRequest.class},
                            (proxy, method, arguments) -> {
                                throw new IllegalStateException("no request");
                            }));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        assertThat(failing.contextPath()).isEmpty();
        assertThat(failing.attachedState()).isEmpty();
        return Arrays.asList(null, new ServletAccess(), failing);
    }

    /** Returns the address of the peer of an early call, which is that of the matched call too. */
    private Optional<String> peer(Map<String, Object> properties) {
        ContainerRequestContext request = (ContainerRequestContext) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ContainerRequestContext.class},
                (proxy, method, arguments) ->
                        method.getName().equals("getProperty") ? properties.get(arguments[0]) : null);
        Optional<String> early = RestCall.early(request, null).peerAddress();
        for (ServletAccess servlet : accesses()) {
            assertThat(RestCall.matched(request, servlet, new Search(), MethodNames.of(Set.of()))
                            .peerAddress())
                    .isEqualTo(early);
        }
        return early;
    }

    @Test
    void anEarlyCallHasNeitherAUserNorAMethod() {
        RestCall early = RestCall.early(fake(ContainerRequestContext.class, answers), null);
        assertThat(early.principal()).isEmpty();
        assertThat(early.claim("plan")).isEmpty();
        assertThat(early.method()).isEmpty();
    }

    @Test
    void hasNoArgumentsAndShowsNoClientData() {
        headers.putSingle("authorization", "s3cret");
        assertThat(call.argument("x")).isEmpty();
        assertThat(call).hasToString("RestCall");
    }
}
