// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static io.weir.ratelimit.fixtures.Events.ADDRESS;
import static io.weir.ratelimit.fixtures.Events.API;
import static io.weir.ratelimit.fixtures.Events.LOGIN;
import static io.weir.ratelimit.fixtures.Events.USER;
import static io.weir.ratelimit.fixtures.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SpanAttributesTest {
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final Tracer tracer = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build()
            .get("test");
    private final KeyMasker keys = new KeyMasker(Optional.empty());
    private final SpanAttributes listener = new SpanAttributes(keys);
    private final Charge api = charge(API, ADDRESS, 1);
    private final Charge login = charge(LOGIN, USER, 2);

    private Map<String, Object> attributesAfter(DecisionEvent... events) {
        Span span = tracer.spanBuilder("GET /search").startSpan();
        Context.current()
                .with(span)
                .wrap(() -> List.of(events).forEach(listener::onDecision))
                .run();
        span.end();
        Map<String, Object> attributes = new TreeMap<>();
        exporter.getFinishedSpanItems()
                .get(0)
                .getAttributes()
                .forEach((key, value) -> attributes.put(key.getKey(), value));
        return attributes;
    }

    @Test
    void anAllowedCallShowsTheLimitClosestToExhaustion() {
        assertThat(attributesAfter(Events.allowed(List.of(api, login), 9, 999, 50)))
                .containsOnly(
                        entry("ratelimit.policy", "login"),
                        entry("ratelimit.direction", "incoming"),
                        entry("ratelimit.allowed", true),
                        entry("ratelimit.remaining", 50L),
                        entry("ratelimit.limit", 100L),
                        entry("ratelimit.cost", 2L),
                        entry("ratelimit.degraded", false),
                        entry("ratelimit.key", keys.of(USER)));
    }

    @Test
    void aRejectedCallShowsTheLimitWithTheLongestWait() {
        assertThat(attributesAfter(Events.rejected(List.of(api, login), 0, 0, 50)))
                .containsOnly(
                        entry("ratelimit.policy", "api"),
                        entry("ratelimit.direction", "incoming"),
                        entry("ratelimit.allowed", false),
                        entry("ratelimit.remaining", 0L),
                        entry("ratelimit.limit", 1_000L),
                        entry("ratelimit.cost", 1L),
                        entry("ratelimit.degraded", false),
                        entry("ratelimit.key", keys.of(ADDRESS)));
    }

    @Test
    void aDegradedDecisionHasNoQuotas() {
        assertThat(attributesAfter(Events.degraded(List.of(api, login), FailureMode.CLOSED)))
                .containsOnly(
                        entry("ratelimit.policy", "api"),
                        entry("ratelimit.direction", "incoming"),
                        entry("ratelimit.allowed", false),
                        entry("ratelimit.cost", 1L),
                        entry("ratelimit.degraded", true),
                        entry("ratelimit.key", keys.of(ADDRESS)));
    }

    @Test
    void decisionAboutAnOutgoingCallShowsItsDirection() {
        DecisionEvent incoming = Events.allowed(List.of(api), 9, 999);
        DecisionEvent outgoing =
                new DecisionEvent("client:partner", incoming.charges(), incoming.decision(), incoming.durationNanos());
        assertThat(attributesAfter(incoming, outgoing)).containsEntry("ratelimit.direction", "outgoing");
    }

    @Test
    void theLastOfSeveralDecisionsIsShown() {
        assertThat(attributesAfter(Events.allowed(List.of(api), 9, 999), Events.rejected(List.of(login), 0)))
                .containsEntry("ratelimit.policy", "login")
                .containsEntry("ratelimit.allowed", false);
    }

    /** A span keeps each attribute that it has once. */
    @Test
    void theQuotaIsThatOfTheLastDecisionWithOne() {
        assertThat(attributesAfter(
                        Events.allowed(List.of(api), 9, 999), Events.degraded(List.of(login), FailureMode.CLOSED)))
                .containsEntry("ratelimit.policy", "login")
                .containsEntry("ratelimit.degraded", true)
                .containsEntry("ratelimit.remaining", 9L);
    }

    @Test
    void addressesAndNamesAreNotShown() {
        assertThat(attributesAfter(Events.allowed(List.of(api), 9, 999), Events.allowed(List.of(login), 9))
                        .toString())
                .doesNotContain("203.0.113", "alice");
    }

    @Test
    void withoutASpanNoAttributesAreSet() {
        listener.onDecision(Events.allowed(List.of(api), 9, 999));
        assertThat(exporter.getFinishedSpanItems()).isEmpty();
    }
}
