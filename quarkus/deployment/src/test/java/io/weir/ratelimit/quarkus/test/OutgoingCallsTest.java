// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.client.OutgoingRateLimit;
import io.weir.ratelimit.client.RateLimitClientFilter;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;
import org.eclipse.microprofile.rest.client.inject.RestClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REST clients are limited, and pause as the upstream asks. A call that waits holds no event loop. */
class OutgoingCallsTest {
    private static final String PORT = "weir.test.quarkus.upstream.port";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(
                    Client.class,
                    Offers.class,
                    Limited.class,
                    Paced.class,
                    Soon.class,
                    Hanging.class,
                    Account.class,
                    HangingAccount.class,
                    Resources.class))
            .setBeforeAllCustomizer(OutgoingCallsTest::startUpstream)
            .setAfterAllCustomizer(OutgoingCallsTest::stopUpstream)
            .overrideConfigKey("quarkus.vertx.event-loops-pool-size", "1")
            .overrideConfigKey("quarkus.rest-client.upstream.url", "http://127.0.0.1:${" + PORT + "}")
            .overrideConfigKey("quarkus.rest-client.upstream.connection-pool-size", "1")
            .overrideConfigKey("ratelimit.clients.limited.policy", "limited")
            .overrideConfigKey("ratelimit.clients.limited.key", "account")
            .overrideConfigKey("ratelimit.policies.limited.limit", "2/1h")
            .overrideConfigKey("ratelimit.clients.paced.policy", "paced")
            .overrideConfigKey("ratelimit.clients.paced.key", "account")
            .overrideConfigKey("ratelimit.policies.paced.limit", "1/10m")
            .overrideConfigKey("ratelimit.policies.paced.algorithm", "token-bucket")
            .overrideConfigKey("ratelimit.policies.paced.max-wait", "10m")
            .overrideConfigKey("ratelimit.clients.soon.policy", "soon")
            .overrideConfigKey("ratelimit.clients.soon.key", "account")
            .overrideConfigKey("ratelimit.policies.soon.limit", "1/1s")
            .overrideConfigKey("ratelimit.policies.soon.algorithm", "token-bucket")
            .overrideConfigKey("ratelimit.policies.soon.max-wait", "1m")
            .overrideConfigKey("ratelimit.clients.hanging.policy", "limited")
            .overrideConfigKey("ratelimit.clients.hanging.key", "hanging");

    /** The calls of each account that the upstream has received. */
    private static final Map<String, Integer> SENT = new ConcurrentHashMap<>();

    private static HttpServer upstream;

    @TestHTTPResource
    URI base;

    private Client client;

    /** Starts an upstream that answers with the status that a request asks for. A 429 has a time. */
    private static void startUpstream() {
        try {
            upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        upstream.createContext("/", exchange -> {
            SENT.merge(exchange.getRequestHeaders().getFirst("X-Account"), 1, Integer::sum);
            int status = Integer.parseInt(exchange.getRequestHeaders().getFirst("X-Status"));
            if (status != 200) {
                exchange.getResponseHeaders().add("Retry-After", "600");
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        upstream.createContext("/sent", exchange -> {
            byte[] sent = ("" + SENT.get(exchange.getRequestHeaders().getFirst("X-Account"))).getBytes(US_ASCII);
            exchange.sendResponseHeaders(200, sent.length);
            exchange.getResponseBody().write(sent);
            exchange.close();
        });
        upstream.start();
        System.setProperty(PORT, Integer.toString(upstream.getAddress().getPort()));
    }

    private static void stopUpstream() {
        upstream.stop(0);
    }

    @BeforeEach
    void connect() {
        client = new Client(base);
    }

    private String call(String path) {
        return start(path).join();
    }

    private CompletableFuture<String> start(String path) {
        return client.start("out/" + path).thenApply(HttpResponse::body);
    }

    private void verifyFree() {
        assertThat(call("free")).startsWith("free on vert.x-eventloop-thread");
    }

    @ParameterizedTest
    @ValueSource(strings = {"uni", "stage", "value"})
    void aCallAboveTheLimitIsNotSent(String path) {
        assertThat(call(path)).startsWith("sent");
        assertThat(call(path)).startsWith("sent");
        assertThat(call(path)).startsWith("rejected by [limited]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"uni", "stage", "value"})
    void aResponseOfTheUpstreamPausesTheClient(String path) {
        assertThat(call(path + "?status=429")).startsWith("rejected by the upstream");
        assertThat(call(path)).startsWith("rejected by [limited]");
    }

    @Test
    void aWaitingCallHoldsNoEventLoop() {
        assertThat(call("paced")).startsWith("sent");
        CompletableFuture<String> waiting = start("paced");
        for (int call = 0; call < 5; call++) {
            verifyFree();
        }
        assertThat(waiting).isNotDone();
    }

    @Test
    void aWaitingCallContinuesOnItsEventLoop() {
        assertThat(call("soon")).startsWith("sent");
        assertThat(call("soon")).startsWith("sent on vert.x-eventloop-thread");
    }

    @Test
    void aCallThatIsCanceledDuringItsWaitIsNotSent() {
        assertThat(call("soon")).startsWith("sent");
        for (int call = 0; call < 3; call++) {
            assertThat(call("canceled")).startsWith("canceled");
        }
        // The canceled calls have kept neither their permits nor the only connection.
        assertThat(call("soon")).startsWith("sent");
        URI address = URI.create("http://127.0.0.1:" + System.getProperty(PORT));
        String sent = new Client(address).get("sent", "X-Account", client.name).body();
        assertThat(sent).isEqualTo("2");
    }

    @Test
    void aHangingKeyResolverHoldsNoEventLoop() throws Exception {
        CompletableFuture<String> hanging = start("hanging");
        assertThat(HangingAccount.CALLED.await(60, TimeUnit.SECONDS)).isTrue();
        verifyFree();
        assertThat(hanging).isNotDone();
        HangingAccount.ANSWER.countDown();
        assertThat(hanging.join()).startsWith("sent on vert.x-eventloop-thread");
    }

    /** The upstream. The clients inherit its methods. */
    public interface Offers {
        @GET
        @Path("offers")
        Uni<String> uni(@HeaderParam("X-Account") String account, @HeaderParam("X-Status") int status);

        @GET
        @Path("offers")
        CompletionStage<String> stage(@HeaderParam("X-Account") String account, @HeaderParam("X-Status") int status);

        @GET
        @Path("offers")
        String value(@HeaderParam("X-Account") String account, @HeaderParam("X-Status") int status);
    }

    @RegisterRestClient(configKey = "upstream")
    @OutgoingRateLimit("limited")
    public interface Limited extends Offers {}

    @RegisterRestClient(configKey = "upstream")
    @OutgoingRateLimit("paced")
    public interface Paced extends Offers {}

    @RegisterRestClient(configKey = "upstream")
    @OutgoingRateLimit("soon")
    public interface Soon extends Offers {}

    @RegisterRestClient(configKey = "upstream")
    @OutgoingRateLimit("hanging")
    public interface Hanging extends Offers {}

    @ApplicationScoped
    @Named("account")
    public static class Account implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.header("X-Account").map(Identity::of);
        }
    }

    @ApplicationScoped
    @Named("hanging")
    public static class HangingAccount implements KeyResolver {
        static final CountDownLatch CALLED = new CountDownLatch(1);
        static final CountDownLatch ANSWER = new CountDownLatch(1);

        @Override
        public Optional<Identity> resolve(CallContext call) {
            CALLED.countDown();
            try {
                ANSWER.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return call.header("X-Account").map(Identity::of);
        }
    }

    @Path("out")
    public static class Resources {
        @RestClient
        Limited limited;

        @RestClient
        Paced paced;

        @RestClient
        Soon soon;

        @RestClient
        Hanging hanging;

        @HeaderParam("X-Client")
        String account;

        @QueryParam("status")
        @DefaultValue("200")
        int status;

        private static String on(String what) {
            return what + " on " + Thread.currentThread().getName();
        }

        private static String failed(Throwable failure) {
            return RateLimitClientFilter.rejection(failure)
                    .map(rejection -> "rejected by " + rejection.decision().violatedPolicies())
                    .orElse(RateLimitClientFilter.isRejected(failure) ? "rejected by the upstream" : "" + failure);
        }

        private static Uni<String> later(Uni<String> call) {
            return call.map(body -> on("sent")).onFailure().recoverWithItem(Resources::failed);
        }

        @GET
        @Path("free")
        public Uni<String> free() {
            return Uni.createFrom().item(() -> on("free"));
        }

        @GET
        @Path("uni")
        public Uni<String> uni() {
            return later(limited.uni(account, status));
        }

        @GET
        @Path("stage")
        public Uni<String> stage() {
            return later(Uni.createFrom().completionStage(() -> limited.stage(account, status)));
        }

        @GET
        @Path("value")
        public String value() {
            try {
                limited.value(account, status);
                return on("sent");
            } catch (RuntimeException e) {
                return failed(e);
            }
        }

        @GET
        @Path("paced")
        public Uni<String> paced() {
            return later(paced.uni(account, status));
        }

        @GET
        @Path("soon")
        public Uni<String> soon() {
            return later(soon.uni(account, status));
        }

        @GET
        @Path("canceled")
        public Uni<String> canceled() {
            soon.uni(account, status)
                    .subscribe()
                    .with(body -> {}, failure -> {})
                    .cancel();
            return Uni.createFrom().item(() -> on("canceled"));
        }

        @GET
        @Path("hanging")
        public Uni<String> hanging() {
            return later(hanging.uni(account, status));
        }
    }
}
