// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.interceptor.rest.QuotaResponse;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaServletTest {
    private static final KeyTerms TERMS = new KeyTerms(32, 64);
    private static final Policy API = Policy.builder(
                    new PolicyLimits(
                            "api",
                            List.of(
                                    Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMillis(1_500)),
                                    Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1)))),
                    KeyExpression.parse("principal | ip", TERMS))
            .build();

    private final LocalBackend backend = new LocalBackend(100);
    private final CallerQuotas quotas = new CallerQuotas(
            RateLimitEngine.on(new FallbackBackend(
                            backend,
                            new FailureModes(() -> 1, () -> backend),
                            new BackendHealth(backend, true, false, () -> 0, List.of()),
                            Duration.ofSeconds(1)))
                    .build(),
            () -> Map.of("api", API),
            Set.of(),
            KeyExpression.parse("ip", TERMS)::resolve,
            new IdentityEncoder(Optional.empty()),
            new LocalBackend(100));

    private final Map<String, Object> request = new HashMap<>(Map.of("getMethod", "GET", "getRemoteAddr", "192.0.2.1"));
    private final Map<String, String> headers = new HashMap<>();

    /** The answer of the server to a request for authentication. */
    private Supplier<Boolean> login = () -> {
        throw new AssertionError("the request has no credentials");
    };

    private final Map<String, Object> response = new TreeMap<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    private HttpServletRequest request() {
        return (HttpServletRequest) Proxy.newProxyInstance(
                QuotaServletTest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getHeader" -> headers.get(arguments[0]);
                    case "authenticate" -> login.get();
                    default -> request.get(method.getName());
                });
    }

    private HttpServletResponse response() {
        return (HttpServletResponse) Proxy.newProxyInstance(
                QuotaServletTest.class.getClassLoader(),
                new Class<?>[] {HttpServletResponse.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "getStatus" -> {
                            return response.getOrDefault("status", 200);
                        }
                        case "isCommitted" -> {
                            return false;
                        }
                        case "setStatus", "sendError" -> response.put("status", arguments[0]);
                        case "setHeader" -> response.put((String) arguments[0], arguments[1]);
                        case "setContentType" -> response.put("Content-Type", arguments[0]);
                        case "setContentLength" -> response.put("Content-Length", arguments[0]);
                        case "getOutputStream" -> {
                            return new Body();
                        }
                        default -> throw new AssertionError(method.getName());
                    }
                    return null;
                });
    }

    private final class Body extends ServletOutputStream {
        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new AssertionError("the servlet is synchronous");
        }

        @Override
        public void write(int b) {
            body.write(b);
        }
    }

    private String call(Supplier<CallerQuotas> of) throws IOException {
        response.clear();
        body.reset();
        new QuotaServlet(of).service(request(), response());
        return body.toString(StandardCharsets.UTF_8);
    }

    private String call() throws IOException {
        return call(() -> quotas);
    }

    @Test
    void returnsTheDocument() throws IOException {
        String document = call();
        assertThat(document)
                .isEqualTo("{\"policies\":[{\"name\":\"api\",\"limits\":["
                        + "{\"name\":\"api-1500ms\",\"permits\":5,\"window\":1.5,\"unit\":\"requests\",\"capacity\":5,"
                        + "\"remaining\":5,\"reset\":0},"
                        + "{\"name\":\"api-1h\",\"permits\":10,\"window\":3600,\"unit\":\"requests\",\"capacity\":10,"
                        + "\"remaining\":10,\"reset\":0}]}]}");
        assertThat(response)
                .containsEntry("status", 200)
                .containsEntry("Content-Type", "application/json")
                .containsEntry("Content-Length", document.length())
                .containsEntry("Cache-Control", "no-store")
                .containsEntry("X-Content-Type-Options", "nosniff");
    }

    @Test
    void anEmptyDocumentHasNoPolicies() {
        assertThat(QuotaResponse.of(Map.of()).body()).isEqualTo("{\"policies\":[]}");
    }

    @Test
    void aCalendarLimitHasTheEndOfItsPeriod() {
        Quota quota = TestQuota.of(
                "plan",
                "plan-month",
                10_000,
                10_000,
                Duration.ofDays(30),
                9_999,
                false,
                0,
                1_500_000,
                1_500_000,
                ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]"),
                0);
        assertThat(QuotaResponse.of(Map.of("plan", List.of(quota))).body())
                .contains("\"window\":2592000,", "\"reset\":2,\"period_end\":\"2026-12-01T00:00:00+01:00\"}");
    }

    @Test
    void aHeadRequestHasNoBody() throws IOException {
        request.put("getMethod", "HEAD");
        assertThat(call()).isEmpty();
        assertThat(response).containsEntry("status", 200);
        assertThat((Integer) response.get("Content-Length")).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"OPTIONS, 204", "POST, 405", "PUT, 405", "DELETE, 405", "TRACE, 405"})
    void otherMethodsReadNothing(String method, int status) throws IOException {
        request.put("getMethod", method);
        assertThat(call(() -> {
                    throw new AssertionError("nothing is read");
                }))
                .isEmpty();
        assertThat(response).containsEntry("status", status).containsEntry("Allow", "GET, HEAD, OPTIONS");
    }

    @Test
    void rejectsAnAddressThatReadsTooOften() throws IOException {
        for (int read = 0; read < CallerQuotas.READS_PER_MINUTE; read++) {
            call();
            assertThat(response).containsEntry("status", 200);
        }
        assertThat(call())
                .contains("\"status\":429", "#quota-exceeded", "\"retry_after\":")
                .doesNotContain("+quota");
        assertThat(response)
                .containsEntry("status", 429)
                .containsEntry("Content-Type", "application/problem+json")
                .containsEntry("Cache-Control", "no-store")
                .containsKey("Retry-After");
        request.put("getRemoteAddr", "192.0.2.2");
        call();
        assertThat(response).containsEntry("status", 200);
    }

    @Test
    void answersWithAProblemWhileTheBackendIsUnavailable() throws IOException {
        String problem = call(() -> {
            throw new RateLimitUnavailableException("timeout", Duration.ofSeconds(3));
        });
        assertThat(problem).contains("\"status\":503", "#temporary-reduced-capacity", "\"retry_after\":3");
        assertThat(response)
                .containsEntry("status", 503)
                .containsEntry("Retry-After", "3")
                .containsEntry("Cache-Control", "no-store");
    }

    @Test
    void aFailureIsLoggedOnceAndShowsNothing() throws IOException {
        try (LogCapture log = new LogCapture()) {
            QuotaServlet servlet = new QuotaServlet(() -> {
                throw new IllegalStateException("the bean of the test fails");
            });
            servlet.service(request(), response());
            servlet.service(request(), response());
            assertThat(log.lines()).singleElement().asString().contains("WEIR-323");
        }
        assertThat(response).containsEntry("status", 500);
        assertThat(body.size()).isZero();
    }

    @Test
    void authenticatesACallerWithCredentials() throws IOException {
        headers.put("Authorization", "Basic YW5uOnNlY3JldA==");
        backend.acquire(List.of(new Charge(API.limits(), "p.ann", 3)));
        login = () -> {
            request.put("getUserPrincipal", (Principal) () -> "ann");
            return true;
        };
        assertThat(call()).contains("\"remaining\":7");
    }

    @Test
    void theServerAnswersInvalidCredentials() throws IOException {
        headers.put("Authorization", "Basic wrong");
        login = () -> {
            response.put("status", 401);
            return false;
        };
        assertThat(call()).isEmpty();
        assertThat(response).containsExactly(Map.entry("status", 401));
    }

    @Test
    void rejectsAnAddressAfterRejectedLogins() throws IOException {
        headers.put("Authorization", "Basic wrong");
        login = () -> {
            response.put("status", 401);
            return false;
        };
        for (int attempt = 0; attempt < 6; attempt++) {
            call();
            assertThat(response).containsEntry("status", 401);
        }
        login = () -> {
            throw new AssertionError("the address has no read left");
        };
        assertThat(call()).contains("\"status\":429");
    }

    @Test
    void aLoginIsOneRead() throws IOException {
        headers.put("Authorization", "Basic YW5uOnNlY3JldA==");
        login = () -> true;
        for (int read = 0; read < 40; read++) {
            call();
            assertThat(response).containsEntry("status", 200);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aServerWithoutALoginIgnoresTheHeader(boolean fails) throws IOException {
        headers.put("Authorization", "ApiKey abc");
        login = () -> {
            if (fails) {
                throw new IllegalStateException(new ServletException("no mechanism"));
            }
            return false;
        };
        assertThat(call()).contains("\"name\":\"api\"");
        assertThat(response).containsEntry("status", 200);
    }

    @Test
    void theInitializerIsAServiceOfTheContainer() {
        assertThat(ServiceLoader.load(ServletContainerInitializer.class))
                .hasAtLeastOneElementOfType(WebInitializer.class);
    }

    @Test
    void quotasAreOfTheCallerOnly() throws IOException {
        backend.acquire(List.of(new Charge(API.limits(), "i.192.0.2.9", 3)));
        assertThat(call()).contains("\"remaining\":10").doesNotContain("\"remaining\":7");
        request.put("getRemoteAddr", "192.0.2.9");
        assertThat(call()).contains("\"remaining\":7");
    }
}
