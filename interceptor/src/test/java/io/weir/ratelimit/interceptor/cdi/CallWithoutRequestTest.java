// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.security.enterprise.SecurityContext;
import jakarta.security.enterprise.identitystore.openid.IdentityToken;
import jakarta.security.enterprise.identitystore.openid.OpenIdContext;
import jakarta.websocket.Session;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of a limited bean on a thread without a request. */
class CallWithoutRequestTest {
    private static final String[] LIMITS = {
        "ratelimit.policies.user.limit=1/1h",
        "ratelimit.policies.claim.limit=1/1h",
        "ratelimit.policies.claim.key=claim:tenant",
    };

    /** The user that the container knows on the thread, as a managed executor sets it. */
    private static final ThreadLocal<@Nullable Principal> USER = new ThreadLocal<>();

    @ApplicationScoped
    public static class Limited {
        @RateLimit("user")
        public void call() {}

        @RateLimit("user")
        public void message(String text, Session session) {}

        @RateLimit("claim")
        public void claim() {}
    }

    @ApplicationScoped
    public static class Security {
        @Produces
        SecurityContext context() {
            return fake(SecurityContext.class, Map.of("getCallerPrincipal", USER::get));
        }
    }

    private interface Answer {
        @Nullable
        Object get();
    }

    private static <T> T fake(Class<T> type, Map<String, Answer> answers) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Answer answer = answers.get(method.getName());
                    return answer == null ? null : answer.get();
                }));
    }

    private static boolean allows(@Nullable Principal user, Runnable call) {
        return CompletableFuture.supplyAsync(() -> {
                    USER.set(user);
                    try {
                        call.run();
                        return true;
                    } catch (RateLimitExceededException e) {
                        return false;
                    } finally {
                        USER.remove();
                    }
                })
                .join();
    }

    @Test
    @Tag("field")
    void theUserIsThatOfTheThread() {
        try (Container container = Container.start(LIMITS, Limited.class, Security.class);
                LogCapture log = new LogCapture()) {
            Limited bean = container.bean(Limited.class);
            assertThat(allows(() -> "alice", bean::call)).isTrue();
            assertThat(allows(() -> "alice", bean::call)).isFalse();
            assertThat(allows(() -> "bob", bean::call)).isTrue();
            container.inRequest(
                    TestCall.byPrincipal("bob"),
                    () -> assertThat(allows(null, bean::call)).isTrue());
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-336"))
                    .hasSize(1);
            assertThat(allows(() -> "ANONYMOUS", bean::call)).as("nobody").isFalse();
            assertThat(allows(Tokens.of("tenant", "t1"), bean::claim)).isTrue();
            assertThat(allows(Tokens.of("tenant", "t1"), bean::claim)).isFalse();
            assertThat(allows(Tokens.of("tenant", "t2"), bean::claim)).isTrue();
        }
    }

    @Test
    @Tag("field")
    void withoutAUserTheFirstCallIsReported() {
        try (Container container = Container.start(LIMITS, Limited.class);
                LogCapture log = new LogCapture()) {
            Limited bean = container.bean(Limited.class);
            assertThat(allows(null, bean::call)).isTrue();
            assertThat(allows(null, bean::call)).isFalse();
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-336"))
                    .singleElement()
                    .asString()
                    .contains("Limited.call is called on a thread without a request, where ip does not resolve");
        }
    }

    @Test
    @Tag("field")
    void aMessageOfAWebSocketHasTheUserOfItsSession() {
        try (Container container = Container.start(LIMITS, Limited.class)) {
            Limited bean = container.bean(Limited.class);
            assertThat(allows(null, () -> bean.message("hello", session("alice"))))
                    .isTrue();
            assertThat(allows(null, () -> bean.message("hello", session("alice"))))
                    .isFalse();
            assertThat(allows(null, () -> bean.message("hello", session("bob"))))
                    .isTrue();
        }
    }

    private static Session session(String user) {
        return fake(Session.class, Map.of("getUserPrincipal", () -> (Principal) () -> user));
    }

    // --- OpenID Connect

    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    @ApplicationScoped
    public static class Login {
        @Produces
        OpenIdContext context() {
            String tenant = TENANT.get();
            IdentityToken token = tenant == null
                    ? null
                    : fake(IdentityToken.class, Map.of("getClaims", () -> Map.of("tenant", tenant)));
            return fake(OpenIdContext.class, Map.of("getIdentityToken", () -> token, "getClaimsJson", () -> {
                throw new AssertionError("a call of the provider");
            }));
        }
    }

    private static boolean allowsTenant(@Nullable String tenant, Container container) {
        return allows(() -> "alice", () -> {
            TENANT.set(tenant);
            try {
                container.bean(Limited.class).claim();
            } finally {
                TENANT.remove();
            }
        });
    }

    @Test
    @Tag("field")
    void aClaimCanBeThatOfAnOpenIdLogin() {
        try (Container container = Container.start(LIMITS, Limited.class, Security.class, Login.class)) {
            assertThat(allowsTenant("t1", container)).isTrue();
            assertThat(allowsTenant("t1", container)).isFalse();
            assertThat(allowsTenant("t2", container)).isTrue();
            assertThat(allowsTenant(null, container)).isTrue();
            assertThat(allowsTenant(null, container)).as("the key anonymous").isFalse();
        }
    }
}
