// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.annotation.Priority;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.OPTIONS;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriBuilder;
import jakarta.ws.rs.ext.Provider;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Filters of an application that change a request before it is matched. Surefire runs this test with Jersey and with RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.delete.limit=2/1h",
            "ratelimit.policies.delete.key=ip",
            "ratelimit.policies.delete.methods=DELETE",
            "ratelimit.policies.delete.paths=/api/orders/{id}",
            "ratelimit.policies.early.limit=2/1h",
            "ratelimit.policies.early.key=ip",
            "ratelimit.policies.early.phase=early",
            "ratelimit.policies.early.methods=DELETE",
            "ratelimit.policies.early.paths=/api/early/{id}",
            "ratelimit.policies.every.limit=2/1h",
            "ratelimit.policies.every.key=ip",
            "ratelimit.policies.every.phase=early",
            "ratelimit.policies.every.paths=/api/every/{id}",
            "ratelimit.policies.locked.limit=2/1h",
            "ratelimit.policies.locked.key=ip",
            "ratelimit.policies.locked.phase=early",
            "ratelimit.policies.locked.methods=POST",
            "ratelimit.policies.locked.paths=/api/locked/*"
        },
        beans = {
            RestRewriteTest.Shop.class,
            RestRewriteTest.Orders.class,
            RestRewriteTest.Early.class,
            RestRewriteTest.Every.class,
            RestRewriteTest.Locked.class,
            RestRewriteTest.First.class,
            RestRewriteTest.Last.class,
            RestRewriteTest.Login.class
        })
class RestRewriteTest {
    private static final String METHOD = "X-HTTP-Method-Override";
    private static final String PATH = "X-Original-URL";
    private static final String PREFIX = "X-Forwarded-Prefix";
    private static final List<String> PREFLIGHT =
            List.of("Origin", "https://a.example", "Access-Control-Request-Method", "DELETE");

    private RestRuntime rest;

    @jakarta.ws.rs.ApplicationPath("api")
    public static class Shop extends Application {}

    /** The resources of a limit, which have the same methods. */
    public abstract static class Resource {
        @DELETE
        @Path("{id}")
        public String delete(@PathParam("id") String id) {
            return "deleted " + id;
        }

        @GET
        @Path("{id}")
        public String get(@PathParam("id") String id) {
            return "got " + id;
        }

        @OPTIONS
        @Path("{id}")
        public String options(@PathParam("id") String id) {
            return "options " + id;
        }
    }

    @Path("orders")
    public static class Orders extends Resource {}

    @Path("early")
    public static class Early extends Resource {}

    @Path("every")
    public static class Every extends Resource {}

    @Path("locked")
    public static class Locked {
        @POST
        @Path("login")
        public String login() {
            return "never";
        }
    }

    /** Rejects all credentials after the match, as a filter of a server does. */
    @Provider
    @Priority(Priorities.AUTHENTICATION)
    public static class Login implements ContainerRequestFilter {
        @Override
        public void filter(ContainerRequestContext request) {
            if (request.getUriInfo().getPath().contains("login")) {
                request.abortWith(Response.status(401).build());
            }
        }
    }

    /** Changes requests as their header fields require, like the filters that applications have behind proxies and for old clients. */
    abstract static class Rewriting implements ContainerRequestFilter {
        private final String position;

        Rewriting(String position) {
            this.position = position;
        }

        @Override
        public void filter(ContainerRequestContext request) {
            if (!position.equals(request.getHeaderString("Position"))) {
                return;
            }
            String method = request.getHeaderString(METHOD);
            if (method != null) {
                request.setMethod(method);
            }
            URI base = request.getUriInfo().getBaseUri();
            URI requested = request.getUriInfo().getRequestUri();
            String path = request.getHeaderString(PATH);
            if (path != null) {
                request.setRequestUri(
                        UriBuilder.fromUri(requested).replacePath(path).build());
            }
            String prefix = request.getHeaderString(PREFIX);
            if (prefix != null) {
                request.setRequestUri(
                        UriBuilder.fromUri(base)
                                .replacePath(prefix + base.getPath())
                                .build(),
                        UriBuilder.fromUri(requested)
                                .replacePath(prefix + requested.getPath())
                                .build());
            }
        }
    }

    /** Runs before the filter of early policies. */
    @Provider
    @PreMatching
    @Priority(50)
    public static class First extends Rewriting {
        public First() {
            super("first");
        }
    }

    /** Runs after it. */
    @Provider
    @PreMatching
    public static class Last extends Rewriting {
        public Last() {
            super("last");
        }
    }

    private HttpResponse<String> send(String method, String path, String position, String... fields) {
        HttpRequest.Builder request = HttpRequest.newBuilder(rest.uri(path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Position", position);
        // The client of the JDK permits the field Origin only with an option.
        for (int i = 0; i < fields.length; i += 2) {
            request.header(fields[i], fields[i + 1]);
        }
        return rest.send(request.build());
    }

    private List<Integer> statuses(int calls, String method, String path, String position, String... fields) {
        return IntStream.range(0, calls)
                .mapToObj(call -> send(method, path, position, fields).statusCode())
                .toList();
    }

    private static String[] with(List<String> fields, String... more) {
        return Stream.concat(fields.stream(), Arrays.stream(more)).toArray(String[]::new);
    }

    /** Each way to reach the limited methods, by a filter in front of each phase. */
    static Stream<Arguments> ways() {
        return Stream.of("first", "last")
                .flatMap(position -> Stream.of("orders", "early", "every").flatMap(resource -> {
                    String path = "/api/" + resource + "/7";
                    return Stream.of(
                            Arguments.of(resource, position, "DELETE", path, new String[0]),
                            Arguments.of(resource, position, "POST", path, new String[] {METHOD, "DELETE"}),
                            Arguments.of(resource, position, "GET", path, new String[] {METHOD, "DELETE"}),
                            Arguments.of(resource, position, "OPTIONS", path, with(PREFLIGHT, METHOD, "DELETE")),
                            Arguments.of(resource, position, "DELETE", "/api/old/7", new String[] {PATH, path}),
                            Arguments.of(resource, position, "DELETE", "/api/locked/7", new String[] {PATH, path}),
                            Arguments.of(resource, position, "DELETE", path, new String[] {PREFIX, "/store"}),
                            Arguments.of(resource, position, "DELETE", path, new String[] {PREFIX, "/api"}),
                            Arguments.of(resource, position, "POST", path, new String[] {
                                METHOD, "DELETE", PREFIX, "/shop/api"
                            }));
                }));
    }

    @Tag("field")
    @ParameterizedTest
    @MethodSource("ways")
    void theThirdDeletionIsRejected(String resource, String position, String method, String path, String[] fields) {
        assertThat(statuses(3, method, path, position, fields)).containsExactly(200, 200, 429);
        assertThat(statuses(1, "DELETE", "/api/" + resource + "/7", "none"))
                .as("the same quota as without a rewrite")
                .containsExactly(429);
    }

    /** RESTEasy calls the method for each spelling, and Jersey for none. */
    @ParameterizedTest
    @CsvSource({"orders, first", "orders, last", "early, first", "early, last"})
    void theSpellingOfTheMethodIsNoWayAroundALimit(String resource, String position) {
        String path = "/api/" + resource + "/7";
        assertThat(statuses(1, "POST", path, position, METHOD, "delete")).isSubsetOf(200, 405);
        assertThat(statuses(1, "POST", path, position, METHOD, "Delete")).isSubsetOf(200, 405);
        assertThat(statuses(1, "POST", path, position, METHOD, "delete")).isSubsetOf(429, 405);
    }

    /** A request that two entry points see pays once. */
    @Tag("field")
    @Test
    void aRequestPaysOnceForAnEarlyPolicy() {
        HttpResponse<String> first = send("DELETE", "/api/every/7", "last", PATH, "/api/every/8");
        assertThat(first.body()).isEqualTo("deleted 8");
        assertThat(first.headers().firstValue("X-RateLimit-Remaining")).contains("1");
    }

    @Tag("field")
    @Test
    void anOverriddenMethodOfALoginThatIsRejectedCounts() {
        assertThat(statuses(3, "PUT", "/api/locked/login", "last", METHOD, "POST"))
                .containsExactly(401, 401, 429);
    }

    @Tag("field")
    @Test
    void aPreflightRequestStaysFree() {
        String[] fields = with(PREFLIGHT);
        for (String resource : List.of("orders", "early", "every")) {
            assertThat(statuses(4, "OPTIONS", "/api/" + resource + "/7", "none", fields))
                    .containsOnly(200);
        }
    }

    @Test
    void anotherMethodOfThePathIsFree() {
        assertThat(statuses(4, "DELETE", "/api/orders/7", "last", METHOD, "GET"))
                .containsOnly(200);
    }
}
