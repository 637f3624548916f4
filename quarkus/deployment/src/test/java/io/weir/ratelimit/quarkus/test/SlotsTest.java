// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request holds its slot until it ends, and no longer. */
class SlotsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class, Work.class, Late.class))
            .overrideConfigKey("ratelimit.policies.slot.concurrency", "1")
            .overrideConfigKey("ratelimit.policies.slot.key", "global")
            .overrideConfigKey("ratelimit.policies.late.concurrency", "1")
            .overrideConfigKey("ratelimit.policies.late.key", "late");

    @TestHTTPResource
    URI base;

    private Client client;

    @BeforeEach
    void connect() {
        client = new Client(base);
        awaitFree();
    }

    private void awaitFree() {
        awaitFree(1);
    }

    /** The client can have its response before the request has ended. */
    private void awaitFree(int slots) {
        Await.until(
                slots == 1 ? "the slot is free" : "the slot is taken",
                Duration.ofSeconds(30),
                () -> client.get("slots/free").body().equals(Integer.toString(slots)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"value", "uni", "failure", "items", "bean", "bean-items"})
    void theEndOfAResponseReleasesTheSlot(String path) {
        for (int call = 0; call < 3; call++) {
            assertThat(client.get("slots/" + path).statusCode())
                    .as("call %d", call)
                    .isEqualTo(path.equals("failure") ? 500 : 200);
            awaitFree();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bean-error", "bean-items-error", "bean-stage-error"})
    void anErrorOfABeanMethodReleasesTheSlot(String path) {
        for (int call = 0; call < 2; call++) {
            assertThat(client.get("slots/" + path).body()).as("call %d", call).contains("as the test asks");
            awaitFree();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"events", "never", "bean-events"})
    void aClientThatLeavesReleasesTheSlot(String path) throws IOException {
        try (Socket socket = open(path)) {
            awaitFree(0);
            assertThat(client.get("slots/value").statusCode()).isEqualTo(429);
            socket.setSoLinger(true, 0);
        }
        awaitFree();
    }

    /** The first write fails, about which Vert.x calls no handler. */
    @RepeatedTest(5)
    void aClientThatLeavesBeforeTheFirstWriteReleasesTheSlot() throws IOException {
        try (Socket socket = open("events")) {
            socket.setSoLinger(true, 0);
        }
        awaitFree();
    }

    /** The connection of HTTP/2 remains open, so only the stream ends. */
    @ParameterizedTest
    @ValueSource(strings = {"events", "never"})
    void aClientThatResetsAStreamReleasesTheSlot(String path) throws Exception {
        HttpClient connection = HttpClient.newHttpClient();
        HttpRequest free = HttpRequest.newBuilder(base.resolve("/slots/free")).build();
        assertThat(connection.send(free, BodyHandlers.ofString()).version()).isEqualTo(HttpClient.Version.HTTP_2);
        CompletableFuture<?> call = connection.sendAsync(
                HttpRequest.newBuilder(base.resolve("/slots/" + path)).build(), BodyHandlers.ofString());
        awaitFree(0);
        call.cancel(true);
        awaitFree();
        assertThat(connection.send(free, BodyHandlers.ofString()).body()).isEqualTo("1");
    }

    @Test
    void aConnectionThatIsKeptAliveReleasesTheSlotOfEachRequest() throws IOException {
        try (Socket socket = open("value")) {
            for (int call = 0; call < 3; call++) {
                assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 200");
                readToEnd(socket);
                awaitFree();
                request(socket, "value");
            }
        }
    }

    /** The event loop is busy from the decision to the cancellation, so that it does not continue the call. */
    @Test
    void aCanceledCallThatIsAlreadyDecidedReleasesTheSlot() {
        assertThat(client.get("slots/canceled").body()).isEqualTo("canceled");
        Await.until(
                "the slot is free",
                Duration.ofSeconds(30),
                () -> client.get("slots/late").body().equals("late"));
    }

    private static void readToEnd(Socket socket) throws IOException {
        StringBuilder response = new StringBuilder();
        while (!response.toString().endsWith("\r\n\r\ndone")) {
            response.append((char) socket.getInputStream().read());
        }
    }

    private Socket open(String path) throws IOException {
        Socket socket = new Socket("127.0.0.1", base.getPort());
        socket.setSoTimeout(30_000);
        request(socket, path);
        return socket;
    }

    private static void request(Socket socket, String path) throws IOException {
        socket.getOutputStream()
                .write(("GET /slots/" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
    }

    @Path("slots")
    public static class Resources {
        @Inject
        Work work;

        @Inject
        RateLimiter limiter;

        @GET
        @Path("free")
        public long free() {
            return limiter.peek("slot", Identity.GLOBAL).get(0).remaining();
        }

        @GET
        @Path("value")
        @RateLimit("slot")
        public String value() {
            return "done";
        }

        @GET
        @Path("uni")
        @RateLimit("slot")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("failure")
        @RateLimit("slot")
        public Uni<String> failure() {
            return Uni.createFrom().failure(new IllegalStateException("as the test asks"));
        }

        @GET
        @Path("items")
        @RateLimit("slot")
        public Multi<String> items() {
            return Multi.createFrom().items("do", "ne");
        }

        @GET
        @Path("events")
        @Produces(MediaType.SERVER_SENT_EVENTS)
        @RateLimit("slot")
        public Multi<Long> events() {
            return Multi.createFrom().ticks().every(Duration.ofMillis(50));
        }

        @GET
        @Path("never")
        @RateLimit("slot")
        public Uni<String> never() {
            return Uni.createFrom().nothing();
        }

        @GET
        @Path("bean")
        public Uni<String> bean() {
            return work.uni();
        }

        @GET
        @Path("bean-error")
        public Uni<String> beanError() {
            return work.error();
        }

        @GET
        @Path("bean-items-error")
        public Multi<String> beanItemsError() {
            return work.itemsError();
        }

        @GET
        @Path("bean-stage-error")
        public Uni<String> beanStageError() {
            return Uni.createFrom().completionStage(() -> work.stageError());
        }

        @GET
        @Path("late")
        public Uni<String> late() {
            return work.late();
        }

        @GET
        @Path("canceled")
        public Uni<String> canceled() {
            return Uni.createFrom().item(() -> {
                Cancellable call = work.late().subscribe().with(item -> {}, failure -> {});
                Await.until("the call is decided", Duration.ofSeconds(30), Late::isDecided);
                call.cancel();
                return "canceled";
            });
        }

        @GET
        @Path("bean-items")
        public Multi<String> beanItems() {
            return work.items();
        }

        @GET
        @Path("bean-events")
        @Produces(MediaType.SERVER_SENT_EVENTS)
        public Multi<Long> beanEvents() {
            return work.events();
        }
    }

    @ApplicationScoped
    public static class Work {
        @RateLimit("late")
        public Uni<String> late() {
            return Uni.createFrom().item("late");
        }

        @RateLimit("slot")
        public Uni<String> error() {
            throw new AssertionError("as the test asks");
        }

        @RateLimit("slot")
        public Multi<String> itemsError() {
            throw new AssertionError("as the test asks");
        }

        @RateLimit("slot")
        public CompletionStage<String> stageError() {
            throw new AssertionError("as the test asks");
        }

        @RateLimit("slot")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @RateLimit("slot")
        public Multi<String> items() {
            return Multi.createFrom().items("do", "ne");
        }

        @RateLimit("slot")
        public Multi<Long> events() {
            return Multi.createFrom().ticks().every(Duration.ofMillis(50));
        }
    }

    /** Resolves a key on a worker thread, which has decided about the call when it is idle again. */
    @ApplicationScoped
    @Named("late")
    public static class Late implements KeyResolver, DecisionListener {
        private static volatile Thread worker;
        private static volatile boolean decided;

        @Override
        public Optional<Identity> resolve(CallContext call) {
            worker = Thread.currentThread();
            return Optional.of(Identity.principal("late"));
        }

        @Override
        public void onDecision(DecisionEvent event) {
            decided |= event.endpoint().endsWith("Work.late");
        }

        static boolean isDecided() {
            return decided && worker.getState() != Thread.State.RUNNABLE;
        }
    }
}
