// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.OutgoingRateLimit;
import io.weir.ratelimit.client.RateLimitClientFilter;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.client.ClientRequestFilter;
import jakarta.ws.rs.client.Entity;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.glassfish.jersey.ext.cdi1x.internal.CdiComponentProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The filter in a REST client, with an upstream in the same process. */
class RateLimitClientFilterTest {
    private static final String POLICY = "ratelimit.policies.calls.limit=3/1h";
    private static final String CLIENT = "ratelimit.clients.partner.policy=calls";
    private static final Identity KEY = Identity.of("partner");

    private final List<String> received = new CopyOnWriteArrayList<>();
    private final List<String> answered = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private HttpServer upstream;
    private String address;

    @BeforeEach
    void startUpstream() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            received.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            for (int i = 0; i < answered.size(); i += 2) {
                exchange.getResponseHeaders().add(answered.get(i), answered.get(i + 1));
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        upstream.start();
        address = "http://localhost:" + upstream.getAddress().getPort();
    }

    @AfterEach
    void stopUpstream() {
        upstream.stop(0);
    }

    /** Starts a container in which Jersey creates its clients. */
    private static Container start(String[] lines, Class<?>... beans) {
        return Container.start(
                lines,
                Stream.concat(Stream.of(CdiComponentProvider.class), Stream.of(beans))
                        .toArray(Class<?>[]::new));
    }

    private static Client client() {
        return ClientBuilder.newBuilder()
                .register(new RateLimitClientFilter("partner"))
                .build();
    }

    private int get(Client client) {
        try (Response response = client.target(address).path("items").request().get()) {
            return response.getStatus();
        }
    }

    private static long remaining(Container container, Identity key) {
        return container.bean(RateLimiter.class).peek("calls", key).get(0).remaining();
    }

    @Test
    void rejectedCallIsNotSent() {
        try (Container container = start(new String[] {POLICY, CLIENT});
                Client client = client()) {
            for (int i = 0; i < 3; i++) {
                assertThat(get(client)).isEqualTo(200);
            }
            Throwable thrown = catchThrowable(() -> get(client));
            assertThat(RateLimitClientFilter.rejection(thrown))
                    .hasValueSatisfying(rejection -> assertThat(rejection.retryAfter())
                            .hasValueSatisfying(
                                    wait -> assertThat(wait).isBetween(Duration.ofMinutes(1), Duration.ofHours(2))));
            assertThat(RateLimitClientFilter.rejection(new IllegalStateException(new IOException())))
                    .isEmpty();
            assertThat(received).hasSize(3).containsOnly("GET /items");
            assertThat(remaining(container, KEY)).isZero();
        }
    }

    @Test
    void upstreamPausesTheClient() {
        try (Container container = start(new String[] {POLICY, CLIENT});
                Client client = client()) {
            status = 429;
            answered.addAll(List.of("retry-after", "120"));
            assertThat(get(client)).isEqualTo(429);
            assertThat(RateLimitClientFilter.rejection(catchThrowable(() -> get(client))))
                    .hasValueSatisfying(rejection -> {
                        assertThat(rejection.decision().blocked()).isTrue();
                        assertThat(rejection.retryAfter().orElseThrow())
                                .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(120));
                    });
            assertThat(received).hasSize(1);
            assertThat(container
                            .bean(RateLimiter.class)
                            .peek("calls", KEY)
                            .get(0)
                            .blockedFor())
                    .isPositive();
        }
    }

    @Test
    void upstreamLowersTheQuota() {
        try (Container container = start(new String[] {
                    "ratelimit.policies.calls.limit=1000/1h", "ratelimit.policies.calls.algorithm=fixed-window", CLIENT
                });
                Client client = client()) {
            answered.addAll(List.of("X-RateLimit-Remaining", "17", "X-RateLimit-Reset", "3600"));
            get(client);
            assertThat(remaining(container, KEY)).isEqualTo(17);
        }
    }

    @Test
    void disabledLimitsHaveNoEffect() {
        try (Container container = start(new String[] {POLICY, CLIENT, "ratelimit.enabled=false"});
                Client client = client()) {
            status = 429;
            answered.addAll(List.of("Retry-After", "120"));
            for (int i = 0; i < 5; i++) {
                assertThat(get(client)).isEqualTo(429);
            }
            assertThat(container).isNotNull();
        }
    }

    @Test
    void propertyNamesTheClient() {
        try (Container container = start(new String[] {POLICY, CLIENT});
                Client client = ClientBuilder.newBuilder()
                        .register(RateLimitClientFilter.class)
                        .build()) {
            client.target(address)
                    .property(RateLimitClientFilter.CLIENT, "partner")
                    .request()
                    .get()
                    .close();
            client.target(address)
                    .request()
                    .property(RateLimitClientFilter.CLIENT, "partner")
                    .get()
                    .close();
            assertThat(remaining(container, KEY)).isEqualTo(1);
            assertThatThrownBy(() -> get(client)).hasStackTraceContaining("WEIR-240");
            assertThatThrownBy(() -> client.target(address)
                            .request()
                            .property(RateLimitClientFilter.CLIENT, "other")
                            .get())
                    .hasStackTraceContaining("WEIR-239");
        }
    }

    @OutgoingRateLimit("partner")
    @Path("/accounts")
    interface Accounts {
        @Path("{id}/items")
        String items();
    }

    /** A MicroProfile REST client passes the called method as a property. */
    private static ClientRequestFilter invoked(Class<?> type, String name) {
        return request -> {
            try {
                request.setProperty("org.eclipse.microprofile.rest.client.invokedMethod", type.getMethod(name));
            } catch (NoSuchMethodException e) {
                throw new AssertionError(e);
            }
        };
    }

    @Test
    void annotationNamesTheClientAndPathsTheKey() {
        try (Container container = start(new String[] {POLICY, CLIENT, "ratelimit.clients.partner.key=host+path"});
                Client client = ClientBuilder.newBuilder()
                        .register(RateLimitClientFilter.class)
                        .register(invoked(Accounts.class, "items"))
                        .build()) {
            get(client);
            client.target(address)
                    .request()
                    .property(RateLimitClientFilter.PATH_TEMPLATE, "/other")
                    .get()
                    .close();
            Identity host = Identity.of("localhost:" + upstream.getAddress().getPort());
            assertThat(remaining(container, host.and(Identity.of("/accounts/{id}/items"))))
                    .isEqualTo(2);
            assertThat(remaining(container, host.and(Identity.of("/other")))).isEqualTo(2);
        }
    }

    /** An answer of another filter is none of the upstream. */
    @Test
    @Tag("field")
    void callThatACacheAnswersSpendsNothing() {
        Response stored = Response.status(429).header("Retry-After", "120").build();
        for (int priority : new int[] {100, 9_000, Integer.MAX_VALUE - 1}) {
            try (Container container = start(new String[] {POLICY, CLIENT});
                    Client client = ClientBuilder.newBuilder()
                            .register((ClientRequestFilter) request -> request.abortWith(stored), priority)
                            .register(new RateLimitClientFilter("partner"))
                            .build()) {
                assertThat(get(client)).isEqualTo(429);
                assertThat(remaining(container, KEY)).isEqualTo(3);
            }
        }
        assertThat(received).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"429, false", "503, false", "403, true", "413, true", "500, true"})
    @Tag("field")
    void rejectionByTheUpstreamIsOneToo(int answeredStatus, boolean needsTime) {
        try (Container container = start(new String[] {"ratelimit.policies.calls.limit=1/1h", CLIENT});
                Client client = client()) {
            status = answeredStatus;
            if (needsTime) {
                answered.addAll(List.of("Retry-After", "120"));
            }
            for (int i = 0; i < 2; i++) {
                Throwable thrown =
                        catchThrowable(() -> client.target(address).request().get(String.class));
                assertThat(RateLimitClientFilter.isRejected(thrown)).isTrue();
                assertThat(RateLimitClientFilter.isRejected(new IllegalStateException(thrown)))
                        .isTrue();
                assertThat(RateLimitClientFilter.rejection(thrown).isPresent()).isEqualTo(i == 1);
            }
            assertThat(container).isNotNull();
        }
    }

    @Test
    void otherFailuresAreNoRejections() {
        Throwable circle = new IllegalStateException(new IllegalStateException());
        circle.getCause().initCause(circle);
        assertThat(Stream.of(
                        circle,
                        new IOException(),
                        new WebApplicationException(404),
                        new WebApplicationException(500),
                        new WebApplicationException(403)))
                .noneMatch(RateLimitClientFilter::isRejected);
        assertThat(RateLimitClientFilter.isRejected(new RateLimitUnavailableException("away")))
                .isTrue();
    }

    @Test
    void resolverSeesTheOutgoingRequestAndTheIncomingCaller() {
        try (Container container =
                        start(new String[] {POLICY, CLIENT, "ratelimit.clients.partner.key=account"}, Account.class);
                Client client = client()) {
            container.inRequest(
                    CallContext.NONE,
                    () -> client.target(address)
                            .queryParam("region", "eu west")
                            .request()
                            .header("X-Account", "7")
                            .get()
                            .close());
            assertThat(remaining(container, Identity.of("7 eu west false"))).isEqualTo(2);
        }
    }

    @Named("account")
    @ApplicationScoped
    static class Account implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.header("x-account")
                    .map(account -> Identity.of(account + " "
                            + call.queryParameter("region").orElse("")
                            + " " + call.principal().isPresent()));
        }
    }

    @Test
    void retriesAboveTheBudgetAreNotSent() {
        try (Container container =
                        start(new String[] {"ratelimit.policies.calls.limit=1000/1h", CLIENT}, ManualClock.class);
                Client client = client()) {
            status = 500;
            Entity<String> entity = Entity.text("x");
            for (int sent = 0; sent < 11; sent++) {
                client.target(address).request().post(entity).close();
            }
            for (int seconds = 1; seconds <= 3; seconds++) {
                Throwable rejected = catchThrowable(
                        () -> client.target(address).request().post(entity).close());
                assertThat(RateLimitClientFilter.rejection(rejected))
                        .map(RateLimitExceededException::retryAfter)
                        .contains(Optional.empty());
                assertThat(received).as("after %d seconds", seconds - 1).hasSize(10 + seconds);
                ManualClock.NANOS.addAndGet(Duration.ofSeconds(1).toNanos());
                client.target(address).request().post(entity).close();
            }
            client.target(address).request().post(Entity.text(new String("x"))).close();
            assertThat(received).as("another entity").hasSize(15);
            assertThat(container).isNotNull();
        }
    }

    /** A clock that the test moves. */
    @ApplicationScoped
    public static class ManualClock implements EngineEnvironment {
        static final AtomicLong NANOS = new AtomicLong();

        @Override
        public Sleeper clock() {
            return new Sleeper() {
                @Override
                public long nanos() {
                    return NANOS.get();
                }

                @Override
                public CompletableFuture<Void> timer(long micros) {
                    return REAL.timer(micros);
                }
            };
        }
    }

    @Test
    void markedCallIsNoRetry() {
        try (Container container = start(new String[] {
                    "ratelimit.policies.calls.limit=1000/1h", CLIENT, "ratelimit.clients.partner.retry-budget=0%"
                });
                Client client = client()) {
            status = 500;
            get(client);
            assertThat(RateLimitClientFilter.rejection(catchThrowable(() -> get(client))))
                    .isPresent();
            client.target(address)
                    .path("items")
                    .request()
                    .property(RateLimitClientFilter.RETRY, false)
                    .get()
                    .close();
            assertThat(received).hasSize(2);
            assertThat(container).isNotNull();
        }
    }

    @Test
    void decisionOfTheApplicationCountsOnce() {
        try (Container container = start(new String[] {POLICY, CLIENT});
                Client client = client()) {
            Decision decision = container
                    .bean(RateLimiter.class)
                    .acquireAsync("calls", KEY)
                    .toCompletableFuture()
                    .join();
            client.target(address)
                    .request()
                    .property(RateLimitClientFilter.DECISION, decision)
                    .rx()
                    .get()
                    .toCompletableFuture()
                    .join()
                    .close();
            assertThat(remaining(container, KEY)).isEqualTo(2);
        }
    }

    @Test
    void decisionsAreReportedAndShownUnderTheClient() {
        try (Container container = start(new String[] {POLICY, CLIENT}, Recorder.class);
                Client client = client()) {
            get(client);
            assertThat(container.bean(Recorder.class).endpoints()).containsExactly("client:partner");
            assertThat(container.bean(Operations.class).policies())
                    .singleElement()
                    .satisfies(policy -> assertThat(policy.endpoints()).containsExactly("client:partner"));
        }
    }

    @ApplicationScoped
    static class Recorder implements DecisionListener {
        private final List<String> endpoints = new ArrayList<>();

        @Override
        public void onDecision(DecisionEvent event) {
            endpoints.add(event.endpoint());
        }

        List<String> endpoints() {
            return endpoints;
        }
    }

    @Test
    void deploymentReportsAllProblems() {
        assertThatThrownBy(() -> start(
                                new String[] {
                                    "ratelimit.clients.partner.policy=missing",
                                    "ratelimit.clients.partner.key=tenant",
                                    "ratelimit.policies.other.limit=many"
                                },
                                Annotated.class)
                        .close())
                .hasMessageContaining("WEIR-110 ratelimit.clients.partner.policy: policy missing has no limit")
                .hasMessageContaining("WEIR-234 ratelimit.clients.partner.key = tenant")
                .hasMessageContaining("WEIR-232 " + Annotated.class.getName())
                .hasMessageContaining("WEIR-111 ratelimit.policies.other.limit = many");
    }

    @OutgoingRateLimit("unknown")
    @ApplicationScoped
    static class Annotated {}
}
