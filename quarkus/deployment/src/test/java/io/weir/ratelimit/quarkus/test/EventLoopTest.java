// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.ext.Provider;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another resource answers on the only event loop while a call waits. */
class EventLoopTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar ->
                    jar.addClasses(Client.class, Resources.class, Visit.class, Paced.class, Hanging.class, Quick.class))
            .overrideConfigKey("quarkus.vertx.event-loops-pool-size", "1")
            .overrideConfigKey("ratelimit.policies.paced.limit", "1/10m")
            .overrideConfigKey("ratelimit.policies.paced.algorithm", "token-bucket")
            .overrideConfigKey("ratelimit.policies.paced.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.paced.max-wait", "10m")
            .overrideConfigKey("ratelimit.policies.early.limit", "1/10m")
            .overrideConfigKey("ratelimit.policies.early.algorithm", "token-bucket")
            .overrideConfigKey("ratelimit.policies.early.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.early.max-wait", "10m")
            .overrideConfigKey("ratelimit.policies.early.paths", "/loop/early")
            .overrideConfigKey("ratelimit.policies.early.phase", "early")
            .overrideConfigKey("ratelimit.policies.soon.limit", "1/1s")
            .overrideConfigKey("ratelimit.policies.soon.algorithm", "token-bucket")
            .overrideConfigKey("ratelimit.policies.soon.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.soon.max-wait", "1m")
            .overrideConfigKey("ratelimit.policies.hanging.limit", "10/1h")
            .overrideConfigKey("ratelimit.policies.hanging.key", "hanging")
            .overrideConfigKey("ratelimit.policies.resolved.limit", "10/1h")
            .overrideConfigKey("ratelimit.policies.resolved.key", "quick");

    @TestHTTPResource
    URI base;

    private Client client;

    @BeforeEach
    void connect() {
        client = new Client(base);
    }

    private void verifyFree() {
        assertThat(client.get("loop/free").body()).startsWith("free on vert.x-eventloop-thread");
    }

    @ParameterizedTest
    @ValueSource(strings = {"paced", "early", "bean", "stage"})
    void aWaitingCallHoldsNoEventLoop(String path) {
        HttpResponse<String> first = client.start("loop/" + path).join();
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        CompletableFuture<HttpResponse<String>> waiting = client.start("loop/" + path);
        for (int call = 0; call < 5; call++) {
            verifyFree();
        }
        assertThat(waiting).isNotDone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "soon-bean", "soon-stage"})
    void aWaitingCallContinuesOnItsEventLoop(String path) {
        assertThat(client.start("loop/" + path).join().statusCode()).isEqualTo(200);
        HttpResponse<String> second = client.start("loop/" + path).join();
        assertThat(second.statusCode()).as(second.body()).isEqualTo(200);
        assertThat(second.body()).startsWith("soon on vert.x-eventloop-thread");
    }

    @ParameterizedTest
    @Tag("field")
    @ValueSource(strings = {"uni-on-worker", "multi-on-worker"})
    void aMethodThatIsCalledOnAWorkerRunsThere(String path) {
        HttpResponse<String> response = client.start("loop/" + path).join();
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).matches("resolved on (executor-thread-\\d+) for \\1");
    }

    @ParameterizedTest
    @Tag("field")
    @ValueSource(strings = {"soon-on-worker", "soon-stage-on-worker", "blocking-stage", "response"})
    void aMethodThatIsCalledOnAWorkerRunsThereAfterAWait(String path) {
        assertThat(client.start("loop/" + path).join().statusCode()).isEqualTo(200);
        HttpResponse<String> second = client.start("loop/" + path).join();
        assertThat(second.statusCode()).as(second.body()).isEqualTo(200);
        assertThat(second.body()).matches("soon on (executor-thread-\\d+) for \\1");
    }

    @Test
    void aHangingKeyResolverHoldsNoEventLoop() throws Exception {
        CompletableFuture<HttpResponse<String>> hanging = client.start("loop/hanging");
        assertThat(Hanging.CALLED.await(60, TimeUnit.SECONDS)).isTrue();
        verifyFree();
        assertThat(hanging).isNotDone();
        Hanging.ANSWER.countDown();
        assertThat(hanging.join().body()).startsWith("hanging on vert.x-eventloop-thread");
    }

    @Test
    void aPlainValueIsNotWaitedForOnAnEventLoop() {
        assertThat(client.start("loop/value").join().statusCode()).isEqualTo(200);
        HttpResponse<String> second = client.start("loop/value").join();
        assertThat(second.statusCode()).isEqualTo(500);
        assertThat(second.body()).contains("WEIR-262");
    }

    @Path("loop")
    public static class Resources {
        @Inject
        Paced beans;

        @Inject
        Visit visit;

        private static Uni<String> on(String what) {
            return Uni.createFrom()
                    .item(() -> what + " on " + Thread.currentThread().getName());
        }

        @GET
        @Path("free")
        public Uni<String> free() {
            return on("free");
        }

        @GET
        @Path("paced")
        @RateLimit("paced")
        public Uni<String> paced() {
            return on("paced");
        }

        @GET
        @Path("early")
        public Uni<String> early() {
            return on("early");
        }

        @GET
        @Path("bean")
        public Uni<String> bean() {
            return beans.uni();
        }

        @GET
        @Path("stage")
        public Uni<String> stage() {
            return Uni.createFrom().completionStage(() -> beans.stage());
        }

        @GET
        @Path("soon")
        @RateLimit("soon")
        public Uni<String> soon() {
            return on("soon");
        }

        @GET
        @Path("soon-bean")
        public Uni<String> soonBean() {
            return beans.soon();
        }

        @GET
        @Path("soon-stage")
        @NonBlocking
        public CompletionStage<String> soonStage() {
            return beans.soonStage();
        }

        @GET
        @Path("uni-on-worker")
        public String uniOnWorker() {
            return beans.resolved().await().indefinitely() + " for "
                    + Thread.currentThread().getName();
        }

        @GET
        @Path("multi-on-worker")
        public String multiOnWorker() {
            return beans.stream().toUni().await().indefinitely() + " for "
                    + Thread.currentThread().getName();
        }

        @GET
        @Path("soon-on-worker")
        public String soonOnWorker() {
            return beans.soon().await().indefinitely() + " for "
                    + Thread.currentThread().getName();
        }

        @GET
        @Path("soon-stage-on-worker")
        public String soonStageOnWorker() {
            return beans.soonStage().toCompletableFuture().join() + " for "
                    + Thread.currentThread().getName();
        }

        @GET
        @Path("blocking-stage")
        @Blocking
        @RateLimit("soon")
        public CompletionStage<String> blockingStage() {
            return CompletableFuture.completedFuture(visit.soon());
        }

        @GET
        @Path("response")
        @RateLimit("soon")
        public void response(@Suspended AsyncResponse response) {
            response.resume(visit.soon());
        }

        @GET
        @Path("hanging")
        @RateLimit("hanging")
        public Uni<String> hanging() {
            return on("hanging");
        }

        @GET
        @Path("value")
        @NonBlocking
        public String value() {
            return beans.value();
        }
    }

    /** Knows the thread on which a request has entered. */
    @Provider
    @RequestScoped
    public static class Visit implements ContainerRequestFilter {
        private String thread = "another request";

        @Override
        public void filter(ContainerRequestContext request) {
            thread = Thread.currentThread().getName();
        }

        String soon() {
            return "soon on " + Thread.currentThread().getName() + " for " + thread;
        }
    }

    @ApplicationScoped
    public static class Paced {
        @RateLimit("paced")
        public Uni<String> uni() {
            return Resources.on("bean");
        }

        @RateLimit("paced")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedFuture("stage");
        }

        @RateLimit("soon")
        public Uni<String> soon() {
            return Resources.on("soon");
        }

        @RateLimit("soon")
        public CompletionStage<String> soonStage() {
            return CompletableFuture.completedFuture(
                    "soon on " + Thread.currentThread().getName());
        }

        @RateLimit("resolved")
        public Uni<String> resolved() {
            return Uni.createFrom().item("resolved on " + Thread.currentThread().getName());
        }

        @RateLimit("resolved")
        public Multi<String> stream() {
            return Multi.createFrom()
                    .item("resolved on " + Thread.currentThread().getName());
        }

        @RateLimit("paced")
        public String value() {
            return "value";
        }
    }

    @ApplicationScoped
    @Named("quick")
    public static class Quick implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.header("X-Client").map(Identity::principal);
        }
    }

    @ApplicationScoped
    @Named("hanging")
    public static class Hanging implements KeyResolver {
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
            return call.header("X-Client").map(Identity::principal);
        }
    }
}
