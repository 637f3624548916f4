// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.ext.Provider;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who the caller is: on which thread, and before and after a login filter. Surefire runs this test with Jersey, and with RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.hello.limit=1/1h",
            "ratelimit.policies.user.limit=1/1h",
            "ratelimit.policies.user.key=principal",
            "ratelimit.policies.bean.limit=1/1h",
            "ratelimit.policies.thread.limit=1/1h",
            "ratelimit.policies.credentials.limit=1/1h",
            "ratelimit.policies.credentials.key=header:Authorization",
            "ratelimit.policies.session.limit=1/1h",
            "ratelimit.policies.session.key=cookie:session",
            "ratelimit.policies.account.limit=1/1h",
            "ratelimit.policies.account.key=account | ip"
        },
        beans = {
            RestCallerTest.Hello.class,
            RestCallerTest.Limited.class,
            RestCallerTest.AccountKey.class,
            RestCallerTest.LateLogin.class,
            RestCallerTest.AuthorizationLogin.class,
            RestCallerTest.Login.class,
            RestCallerTest.EarlyLogin.class,
            RestCallerTest.Form.class
        })
class RestCallerTest {
    private final LogCapture log = new LogCapture();

    private RestRuntime rest;

    @AfterEach
    void end() {
        log.close();
    }

    @Path("hello")
    @RequestScoped
    public static class Hello {
        @Inject
        Limited bean;

        @GET
        @RateLimit("hello")
        public String hello() {
            return "hello";
        }

        @GET
        @Path("user")
        @RateLimit("user")
        public String user() {
            return "hello";
        }

        @GET
        @Path("bean")
        public String bean() {
            return bean.call();
        }

        @GET
        @Path("form")
        public String form(@HeaderParam("Form") String user) {
            Form.USER.set(user);
            return bean.call();
        }

        @GET
        @Path("thread")
        public String thread() {
            return CompletableFuture.supplyAsync(() -> {
                        try {
                            return bean.onThread();
                        } catch (RateLimitExceededException e) {
                            return "rejected";
                        }
                    })
                    .join();
        }

        @GET
        @Path("stream")
        public StreamingOutput stream() {
            return out -> {
                try {
                    out.write(bean.call().getBytes(StandardCharsets.UTF_8));
                } catch (RateLimitExceededException e) {
                    out.write("rejected".getBytes(StandardCharsets.UTF_8));
                }
            };
        }

        @GET
        @Path("account")
        @RateLimit("account")
        public String account() {
            return "hello";
        }

        @GET
        @Path("session")
        @RateLimit("session")
        public String session() {
            return "hello";
        }

        @GET
        @Path("credentials")
        @RateLimit("credentials")
        public String credentials() {
            return "hello";
        }
    }

    @ApplicationScoped
    public static class Limited {
        @RateLimit("bean")
        public String call() {
            return "called";
        }

        @RateLimit("thread")
        public String onThread() {
            return "called";
        }
    }

    /** The resolver of the page on limits by user. */
    @Named("account")
    @ApplicationScoped
    public static class AccountKey implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.principal()
                    .map(name -> Normalizer.normalize(name.strip(), Normalizer.Form.NFKC)
                            .toLowerCase(Locale.ROOT))
                    .map(Identity::principal);
        }
    }

    /** Sets the user of a header. */
    abstract static class LoginFilter implements ContainerRequestFilter {
        abstract String field();

        @Override
        public void filter(ContainerRequestContext request) {
            String user = request.getHeaderString(field());
            if (user != null && user.isEmpty()) {
                request.abortWith(Response.status(401).build());
            } else if (user != null) {
                request.setSecurityContext(new User(() -> user));
            }
        }
    }

    private record User(Supplier<@Nullable String> name) implements SecurityContext {
        @Override
        public @Nullable Principal getUserPrincipal() {
            String user = name.get();
            return user == null ? null : () -> user;
        }

        @Override
        public boolean isUserInRole(String role) {
            return false;
        }

        @Override
        public boolean isSecure() {
            return false;
        }

        @Override
        public @Nullable String getAuthenticationScheme() {
            return null;
        }
    }

    @Provider
    public static class LateLogin extends LoginFilter {
        @Override
        String field() {
            return "Late";
        }
    }

    @Provider
    @Priority(2_500)
    public static class AuthorizationLogin extends LoginFilter {
        @Override
        String field() {
            return "After";
        }
    }

    @Provider
    @Priority(Priorities.AUTHENTICATION)
    public static class Login extends LoginFilter {
        @Override
        String field() {
            return "Login";
        }
    }

    @Provider
    @PreMatching
    public static class EarlyLogin extends LoginFilter {
        @Override
        String field() {
            return "Early";
        }
    }

    /** Gives a request the user whom the resource logs in later, as the request of a servlet does. */
    @Provider
    public static class Form implements ContainerRequestFilter {
        static final AtomicReference<@Nullable String> USER = new AtomicReference<>();

        @Override
        public void filter(ContainerRequestContext request) {
            if (request.getHeaderString("Form") != null) {
                USER.set(null);
                request.setSecurityContext(new User(USER::get));
            }
        }
    }

    private HttpResponse<String> get(String path, String field, String value) {
        return rest.send(
                HttpRequest.newBuilder(rest.uri(path)).header(field, value).build());
    }

    private int status(String path, String field, String value) {
        return get(path, field, value).statusCode();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Early", "Login"})
    @Tag("field")
    void aLoginBeforeTheLimitDeterminesTheKey(String filter) {
        assertThat(status("/hello", filter, "alice")).isEqualTo(200);
        assertThat(status("/hello", filter, "alice")).isEqualTo(429);
        assertThat(status("/hello", filter, "bob")).isEqualTo(200);
        assertThat(status("/hello", filter, "")).isEqualTo(401);
        assertThat(rest.get("/hello").statusCode())
                .as("the login that failed is not charged")
                .isEqualTo(200);
        assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-338"));
    }

    @ParameterizedTest
    @CsvSource({"Late, hello", "After, user"})
    @Tag("field")
    void aLoginAfterTheLimitIsReportedOnce(String filter, String policy) {
        String path = policy.equals("user") ? "/hello/user" : "/hello";
        assertThat(status(path, filter, "alice")).isEqualTo(200);
        assertThat(status(path, filter, "bob")).as("the key is not that of bob").isEqualTo(429);
        assertThat(rest.from("203.0.113.9").get(path).statusCode()).isEqualTo(policy.equals("user") ? 429 : 200);
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-338"))
                .singleElement()
                .asString()
                .startsWith("WARNING WEIR-338 Hello." + (policy.equals("user") ? "user" : "hello")
                        + ": a filter authenticates the user after the limit of policy " + policy + " is decided");
    }

    @Test
    @Tag("field")
    void aBeanHasTheUserOfALoginAfterTheFilter() {
        assertThat(status("/hello/bean", "Late", "alice")).isEqualTo(200);
        assertThat(status("/hello/bean", "Late", "alice")).isEqualTo(429);
        assertThat(status("/hello/bean", "Late", "bob")).isEqualTo(200);
    }

    @Test
    void aBeanHasTheUserWhomTheResourceHasLoggedIn() {
        assertThat(status("/hello/form", "Form", "alice")).isEqualTo(200);
        assertThat(status("/hello/form", "Form", "alice")).isEqualTo(429);
        assertThat(status("/hello/form", "Form", "bob")).isEqualTo(200);
    }

    /** Some servers and frameworks have a principal for callers without a user. */
    @ParameterizedTest
    @ValueSource(strings = {"<ANONYMOUS>", "anonymous", "guest"})
    @Tag("field")
    void callersWithoutAUserHaveTheirAddress(String nobody) {
        assertThat(status("/hello", "Login", nobody)).isEqualTo(200);
        assertThat(status("/hello", "Login", nobody)).isEqualTo(429);
        rest = rest.from("203.0.113.9");
        assertThat(status("/hello", "Login", nobody)).isEqualTo(200);
    }

    @Test
    void aStreamHasTheUserOfTheRequest() {
        assertThat(rest.as("alice").get("/hello/stream").body()).isEqualTo("called");
        assertThat(rest.as("alice").get("/hello/stream").body()).isEqualTo("rejected");
        assertThat(rest.as("bob").get("/hello/stream").body()).isEqualTo("called");
    }

    /** No server is here that knows the user on another thread. */
    @Test
    @Tag("field")
    void anotherThreadHasNoUserAndIsReported() {
        assertThat(rest.as("alice").get("/hello/thread").body()).isEqualTo("called");
        assertThat(rest.as("bob").get("/hello/thread").body()).isEqualTo("rejected");
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-336"))
                .singleElement()
                .asString()
                .contains("Limited.onThread is called on a thread without a request");
    }

    @Test
    @Tag("field")
    void spellingsOfCredentialsShareALimit() {
        assertThat(status("/hello/credentials", "Authorization", "Bearer T0ken"))
                .isEqualTo(200);
        for (String spelling : List.of("bearer T0ken", "BEARER T0ken", "Bearer  T0ken", "Bearer   T0ken ")) {
            assertThat(status("/hello/credentials", "Authorization", spelling))
                    .as(spelling)
                    .isEqualTo(429);
        }
        assertThat(status("/hello/credentials", "Authorization", "Bearer t0ken"))
                .isEqualTo(200);
    }

    /** The server finds the session by one of the cookies. */
    @Test
    void anotherValueOfTheSameCookieGivesNoOtherKey() {
        for (String session : List.of("a", "b")) {
            assertThat(status("/hello/session", "Cookie", "session=" + session)).isEqualTo(200);
            assertThat(status("/hello/session", "Cookie", "session=" + session)).isEqualTo(429);
        }
        assertThat(status("/hello/session", "Cookie", "session=a; session=1")).isEqualTo(200);
        for (String cookies : List.of("session=a; session=2", "session=3; session=a", "session=a; session=b")) {
            assertThat(status("/hello/session", "Cookie", cookies)).as(cookies).isEqualTo(429);
        }
    }

    @Test
    @Tag("field")
    void aResolverGivesAllSpellingsOfANameOneKey() {
        assertThat(rest.as("\u00e9va").get("/hello/account").statusCode()).isEqualTo(200);
        for (String spelling : List.of("\u00c9VA", "e\u0301va", " \u00e9va", "\u00e9va ", "\u00e9\uff56a")) {
            assertThat(rest.as(spelling).get("/hello/account").statusCode())
                    .as(spelling)
                    .isEqualTo(429);
        }
        assertThat(rest.as("eva").get("/hello/account").statusCode()).isEqualTo(200);
    }
}
