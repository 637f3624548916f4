// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricExporter;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.Await;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The spans and metrics of OpenTelemetry, as its exporters receive them. Micrometer is available, too. */
class OpenTelemetryTest {
    private static final String DISABLED = "quarkus.otel.sdk.disabled";
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final AttributeKey<Boolean> ALLOWED = AttributeKey.booleanKey("ratelimit.allowed");
    private static final AttributeKey<String> POLICY = AttributeKey.stringKey("ratelimit.policy");
    private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
    private static final AttributeKey<String> POLICY_TAG = AttributeKey.stringKey("policy");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("outcome");

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resource.class, Exporters.class))
            .setBeforeAllCustomizer(() -> System.setProperty(DISABLED, "false"))
            .setAfterAllCustomizer(() -> System.setProperty(DISABLED, "true"))
            .overrideConfigKey("quarkus.otel.metrics.enabled", "true")
            .overrideConfigKey("quarkus.otel.metric.export.interval", "100ms")
            .overrideConfigKey("quarkus.otel.bsp.schedule.delay", "50ms")
            .overrideConfigKey("ratelimit.policies.counted.limit", "9/1h")
            .overrideConfigKey("ratelimit.policies.counted.key", "global")
            .overrideConfigKey("ratelimit.policies.on-a-loop.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.on-a-loop.key", "global")
            .overrideConfigKey("ratelimit.policies.on-a-worker.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.on-a-worker.key", "global");

    @TestHTTPResource
    URI base;

    @Inject
    InMemorySpanExporter spans;

    @Inject
    InMemoryMetricExporter metrics;

    @BeforeEach
    void forget() {
        spans.reset();
    }

    @Test
    void theSpanOfARequestOnAnEventLoopShowsItsDecision() {
        verifySpans("on-a-loop");
    }

    @Test
    void theSpanOfARequestOnAWorkerShowsItsDecision() {
        verifySpans("on-a-worker");
    }

    private void verifySpans(String policy) {
        Client client = new Client(base);
        assertThat(client.get("traced/" + policy).statusCode()).isEqualTo(200);
        assertThat(client.get("traced/" + policy).statusCode()).isEqualTo(429);
        Await.until("spans of both requests", LONG, () -> spansOf(policy).size() == 2);
        assertThat(spansOf(policy))
                .allSatisfy(span -> assertThat(span.getAttributes().get(POLICY)).isEqualTo(policy))
                .allSatisfy(
                        span -> assertThat(span.getAttributes().get(REMAINING)).isZero())
                .extracting(span -> span.getAttributes().get(ALLOWED))
                .containsExactlyInAnyOrder(true, false);
    }

    private List<SpanData> spansOf(String policy) {
        return spans.getFinishedSpanItems().stream()
                .filter(span -> span.getKind() == SpanKind.SERVER)
                .filter(span -> span.getName().endsWith("/" + policy))
                .toList();
    }

    /** They go to OpenTelemetry alone, so that nothing is counted twice. */
    @Test
    void decisionsAreCountedOnce() {
        Client client = new Client(base);
        assertThat(client.get("traced/counted").statusCode()).isEqualTo(200);
        assertThat(client.get("traced/counted").statusCode()).isEqualTo(200);
        Await.until("the exported decisions", LONG, () -> allowed() == 2);
        assertThat(client.get("q/metrics").body()).doesNotContain("ratelimit_decisions");
    }

    /** Returns the counted calls of the last export. */
    private long allowed() {
        return metrics.getFinishedMetricItems().stream()
                .filter(metric -> metric.getName().equals("ratelimit.decisions"))
                .flatMap(metric -> metric.getLongSumData().getPoints().stream())
                .filter(point -> "counted".equals(point.getAttributes().get(POLICY_TAG)))
                .filter(point -> "allowed".equals(point.getAttributes().get(OUTCOME)))
                .mapToLong(LongPointData::getValue)
                .max()
                .orElse(0);
    }

    @Singleton
    public static class Exporters {
        @Produces
        @Singleton
        InMemorySpanExporter spans() {
            return InMemorySpanExporter.create();
        }

        @Produces
        @Singleton
        InMemoryMetricExporter metrics() {
            return InMemoryMetricExporter.create();
        }
    }

    @Path("traced")
    public static class Resource {
        @GET
        @Path("on-a-loop")
        @RateLimit("on-a-loop")
        public Uni<String> onALoop() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("on-a-worker")
        @RateLimit("on-a-worker")
        public String onAWorker() {
            return "done";
        }

        @GET
        @Path("counted")
        @RateLimit("counted")
        public Uni<String> counted() {
            return Uni.createFrom().item("done");
        }
    }
}
