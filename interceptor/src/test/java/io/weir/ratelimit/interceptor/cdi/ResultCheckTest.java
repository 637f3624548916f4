// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.concurrent.Asynchronous;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.InterceptionType;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import kotlin.coroutines.Continuation;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.eclipse.microprofile.reactive.messaging.Outgoing;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limited methods whose work continues after they have returned. */
@Tag("field")
class ResultCheckTest {
    private static final String[] CONCURRENCY = {
        "ratelimit.policies.work.concurrency=1", "ratelimit.policies.work.key=global"
    };
    private static final String[] RATE = {"ratelimit.policies.work.limit=1/1h", "ratelimit.policies.work.key=global"};

    @ApplicationScoped
    public static class ReturnsFuture {
        @RateLimit("work")
        public Future<String> work() {
            return CompletableFuture.completedFuture("done");
        }
    }

    @ApplicationScoped
    public static class ReturnsPublisher {
        @RateLimit("work")
        public Flow.Publisher<String> work() {
            return subscriber -> {};
        }
    }

    @ApplicationScoped
    public static class Asynchronously {
        @Asynchronous
        @RateLimit("work")
        public void work() {}
    }

    @ApplicationScoped
    @org.eclipse.microprofile.faulttolerance.Asynchronous
    public static class FaultTolerantly {
        @RateLimit("work")
        public Future<String> work() {
            return CompletableFuture.completedFuture("done");
        }
    }

    /** A suspending function of Kotlin, as its compiler shows it to Java. */
    @ApplicationScoped
    public static class Suspends {
        @RateLimit("work")
        public Object work(String text, Continuation<? super String> continuation) {
            return text;
        }
    }

    @ApplicationScoped
    public static class ReturnsVertxFuture {
        @RateLimit("work")
        public io.vertx.core.Future<String> work() {
            return null;
        }
    }

    @ApplicationScoped
    public static class ReturnsStage {
        @Asynchronous
        @RateLimit("work")
        public CompletionStage<String> work() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimit("work")
        public FutureEndsTest.Own own() {
            return new FutureEndsTest.Own();
        }
    }

    @ApplicationScoped
    @Path("work")
    public static class Resource {
        @GET
        @RateLimit("work")
        public Flow.Publisher<String> work() {
            return subscriber -> {};
        }
    }

    @ApplicationScoped
    public static class Enterprise {
        @jakarta.ejb.Asynchronous
        @RateLimit("work")
        public void work() {}
    }

    @ApplicationScoped
    public static class ReceivesAMessage {
        @Incoming("orders")
        @RateLimit("work")
        public CompletionStage<Void> work(Message<String> order) {
            return order.ack();
        }
    }

    @ApplicationScoped
    public static class ReceivesAStream {
        @Incoming("orders")
        @Outgoing("invoices")
        @RateLimit("work")
        public Flow.Publisher<String> work(Flow.Publisher<String> orders) {
            return orders;
        }
    }

    @ApplicationScoped
    public static class ReturnsASubscriber {
        @Incoming("orders")
        @RateLimit("work")
        public Flow.Processor<String, String> work() {
            throw new UnsupportedOperationException("called by the runtime only");
        }
    }

    @ApplicationScoped
    public static class Generates {
        @Outgoing("orders")
        @RateLimit("work")
        public String work() {
            return "order";
        }
    }

    @ApplicationScoped
    public static class ReceivesPayload {
        @Incoming("orders")
        @RateLimit("work")
        public void work(String order) {}

        @Incoming("orders")
        @Outgoing("invoices")
        @RateLimit("work")
        public CompletionStage<String> invoice(String order) {
            return CompletableFuture.completedFuture(order);
        }
    }

    private static void start(String[] lines, Class<?> bean) {
        Container.start(lines, bean).close();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ReturnsFuture.class,
                ReturnsPublisher.class,
                ReturnsVertxFuture.class,
                Suspends.class,
                Asynchronously.class,
                FaultTolerantly.class
            })
    void theDeploymentFailsIfTheEndOfACallIsNotKnown(Class<?> bean) {
        for (String[] lines :
                new String[][] {CONCURRENCY, {RATE[0], RATE[1], "ratelimit.policies.work.count=failure"}}) {
            assertThatThrownBy(() -> start(lines, bean))
                    .hasMessageContaining("WEIR-261")
                    .hasMessageContaining(bean.getSimpleName() + ".work")
                    .hasMessageContaining("policy work");
        }
        start(RATE, bean);
    }

    @ParameterizedTest
    @ValueSource(classes = {ReturnsStage.class, Resource.class})
    void stagesAndResourcesReportTheEnd(Class<?> bean) {
        start(CONCURRENCY, bean);
    }

    @Test
    void theDeploymentFailsIfAnotherThreadDecides() {
        assertThatThrownBy(() -> start(RATE, Enterprise.class))
                .hasMessageContaining("WEIR-260")
                .hasMessageContaining("Enterprise.work");
    }

    @ParameterizedTest
    @ValueSource(classes = {ReceivesAMessage.class, ReceivesAStream.class, ReturnsASubscriber.class, Generates.class})
    void theDeploymentFailsIfARejectionWouldEndAChannel(Class<?> bean) {
        assertThatThrownBy(() -> start(RATE, bean))
                .hasMessageContaining("WEIR-263")
                .hasMessageContaining(bean.getSimpleName() + ".work");
    }

    @Test
    void consumersOfThePayloadAreDeployed() {
        start(CONCURRENCY, ReceivesPayload.class);
    }

    @Test
    void theInterceptorSurroundsTimeoutMethods() throws NoSuchMethodException {
        RateLimit binding =
                ReceivesPayload.class.getMethod("work", String.class).getAnnotation(RateLimit.class);
        try (Container container = Container.start(RATE, ReceivesPayload.class)) {
            BeanManager beans = container.bean(BeanManager.class);
            assertThat(beans.resolveInterceptors(InterceptionType.AROUND_TIMEOUT, binding))
                    .isEqualTo(beans.resolveInterceptors(InterceptionType.AROUND_INVOKE, binding))
                    .hasSize(1);
        }
    }

    @Test
    void theInterceptorSurroundsThoseThatChangeTheThread() {
        assertThat(RateLimitInterceptor.class
                        .getAnnotation(jakarta.annotation.Priority.class)
                        .value())
                .isLessThan(jakarta.interceptor.Interceptor.Priority.PLATFORM_BEFORE + 5);
    }
}
