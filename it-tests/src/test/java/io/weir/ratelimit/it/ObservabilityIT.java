// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The spans, the metrics and the log messages of real requests, on each server. */
@Tag("server")
@Tag("ci")
class ObservabilityIT {
    private static final String REJECTED_SPAN = "false 0 of GET";
    private static final String DECISIONS =
            "ratelimit.decisions{direction=incoming, endpoint=HelloResource.hello, outcome=%s, policy=hello, tier=none}";

    static ServerBuilder<?> exporting(ServerBuilder<?> server, OtlpReceiver collector) {
        return server.systemProperty("otel.sdk.disabled", "false")
                .systemProperty("otel.exporter.otlp.endpoint", collector.endpoint())
                .systemProperty("otel.exporter.otlp.protocol", "http/protobuf")
                .systemProperty("otel.bsp.schedule.delay", "200")
                .systemProperty("otel.metric.export.interval", "500");
    }

    /** Both APIs are there, and the server has MicroProfile 7. */
    @Test
    void openLiberty() {
        try (OtlpReceiver collector = new OtlpReceiver();
                Server server = exporting(LibertyServer.named("observed-liberty"), collector)
                        .start()) {
            assertThat(server.messages())
                    .contains("WEIR-003 Metrics: OpenTelemetry (auto: it exports metrics). Span attributes: on.");
            exhaust(server);
            verifySpans(collector, REJECTED_SPAN);
            verifyExportedMetrics(collector);
            verifyLog(server);
        }
    }

    @Test
    void openLibertyWithMicroProfileMetrics() {
        verifyMicroProfileMetricsAndSpans(
                LibertyServer.named("observed-liberty-mp").systemProperty("ratelimit.metrics", "mp"));
    }

    @Test
    void openLibertyWithJakartaEe11() {
        try (OtlpReceiver collector = new OtlpReceiver();
                Server server = exporting(
                                LibertyServer.named("observed-liberty-ee11").jakartaEe11(), collector)
                        .start()) {
            assertThat(server.messages()).contains("WEIR-003 Metrics: OpenTelemetry (auto: it exports metrics).");
            exhaust(server);
            verifyExportedMetrics(collector);
        }
    }

    /** Its MicroProfile is older than 7. */
    @Test
    void payaraMicro() {
        verifyMicroProfileMetricsAndSpans(PayaraServer.named("observed-payara"));
    }

    @Test
    void payara7() {
        verifyMicroProfileMetricsAndSpans(
                PayaraServer.named("observed-payara7").jar("weir.payara7.jar").javaHome(NewerJdk.required("Payara 7")));
    }

    private static void verifyMicroProfileMetricsAndSpans(ServerBuilder<?> kind) {
        try (OtlpReceiver collector = new OtlpReceiver();
                Server server = exporting(kind, collector).start()) {
            assertThat(server.messages()).contains("WEIR-003 Metrics: MicroProfile Metrics. Span attributes: on.");
            exhaust(server);
            verifySpans(collector, REJECTED_SPAN);
            verifyScrapedMetrics(server);
            verifyLog(server);
        }
    }

    /** The OpenTelemetry of Payara has spans only, and an older API. */
    @Test
    void payaraMicroWithMetricsOfOpenTelemetry() {
        try (OtlpReceiver collector = new OtlpReceiver();
                Server server = exporting(PayaraServer.named("observed-payara-otel"), collector)
                        .systemProperty("ratelimit.metrics", "otel")
                        .start()) {
            assertThat(server.messages()).contains("WEIR-003 Metrics: OpenTelemetry");
            exhaust(server);
            verifySpans(collector, REJECTED_SPAN);
        }
    }

    @Test
    void wildFly() {
        verifyOnWildFly(WildFlyServer.named("observed-wildfly"));
    }

    @Test
    void wildFlyPreview() {
        verifyOnWildFly(WildFlyServer.named("observed-wildfly-preview").preview());
    }

    private static void verifyOnWildFly(WildFlyServer kind) {
        try (OtlpReceiver collector = new OtlpReceiver();
                Server server = exporting(kind, collector).start()) {
            assertThat(server.messages())
                    .contains("WEIR-003 Metrics: OpenTelemetry (auto: it exports metrics). Span attributes: on.");
            exhaust(server);
            verifySpans(collector);
            verifyExportedMetrics(collector);
            verifyLog(server);
        }
    }

    /** Sends five requests that are allowed and one that is rejected. */
    private static void exhaust(Server server) {
        assertThat(Http.statuses(6, server.baseUri().resolve("api/hello")))
                .containsExactly(200, 200, 200, 200, 200, 429);
    }

    /** Verifies the spans of five allowed requests, and the span of the rejected request if the server starts it early enough. */
    private static void verifySpans(OtlpReceiver collector, String... rejected) {
        await(() -> collector.spansWith("ratelimit.policy").size() >= 5 + rejected.length);
        List<Map<String, Object>> spans = collector.spansWith("ratelimit.policy");
        assertThat(spans)
                .allSatisfy(span -> assertThat(span)
                        .containsEntry("ratelimit.policy", "hello")
                        .containsEntry("ratelimit.limit", 5L)
                        .containsEntry("ratelimit.cost", 1L)
                        .containsEntry("ratelimit.degraded", false)
                        .hasEntrySatisfying(
                                "ratelimit.key",
                                key -> assertThat(key.toString()).matches("i\\.~[\\w-]{22}")));
        assertThat(spans)
                .extracting(span -> span.get("ratelimit.key"))
                .containsOnly(spans.get(0).get("ratelimit.key"));
        List<String> expected = new ArrayList<>(
                List.of("true 4 of GET", "true 3 of GET", "true 2 of GET", "true 1 of GET", "true 0 of GET"));
        expected.addAll(List.of(rejected));
        assertThat(spans)
                .extracting(span -> span.get("ratelimit.allowed") + " " + span.get("ratelimit.remaining") + " of "
                        + span.getOrDefault("http.request.method", span.get("http.method")))
                .containsExactlyInAnyOrderElementsOf(expected);
    }

    private static void verifyExportedMetrics(OtlpReceiver collector) {
        // An export can contain the counter of the last decision without its histograms.
        await(() -> collector.counters().getOrDefault(DECISIONS.formatted("rejected"), 0L) == 1
                && recorded(collector, "ratelimit.check.duration") >= 6
                && recorded(collector, "ratelimit.utilization") >= 6);
        assertThat(collector.counters()).containsEntry(DECISIONS.formatted("allowed"), 5L);
        List<HistogramDataPoint> times =
                collector.metric("ratelimit.check.duration").getHistogram().getDataPointsList();
        assertThat(times.stream().mapToLong(HistogramDataPoint::getCount).sum()).isEqualTo(6);
        assertThat(times.get(0).getExplicitBoundsList())
                .startsWith(0.0001, 0.00025)
                .endsWith(0.5, 1.0);
        assertThat(collector.metric("ratelimit.utilization").getHistogram().getDataPointsList())
                .singleElement()
                .satisfies(point -> assertThat(point.getSum()).isEqualTo(0.2 + 0.4 + 0.6 + 0.8 + 1 + 1));
        assertThat(collector.metrics().stream()
                        .filter(metric -> metric.getName().startsWith("ratelimit."))
                        .map(ObservabilityIT::prometheusName))
                .contains("ratelimit_decisions_total", "ratelimit_check_duration_seconds_bucket")
                .isSubsetOf(OperationsFiles.exposed());
    }

    /** Returns the number of values that the latest export of a histogram contains; 0 before the first one. */
    private static long recorded(OtlpReceiver collector, String name) {
        return collector.metrics().stream()
                .filter(metric -> metric.getName().equals(name))
                .flatMap(metric -> metric.getHistogram().getDataPointsList().stream())
                .mapToLong(HistogramDataPoint::getCount)
                .sum();
    }

    /** Returns the Prometheus name of a metric, which depends on its unit and type. */
    private static String prometheusName(Metric metric) {
        String unit = switch (metric.getUnit()) {
            case "s" -> "_seconds";
            case "1" -> metric.hasGauge() ? "_ratio" : "";
            case "" -> "";
            default -> "_" + metric.getUnit();
        };
        String type = metric.hasHistogram() ? "_bucket" : metric.getSum().getIsMonotonic() ? "_total" : "";
        return metric.getName().replace('.', '_') + unit + type;
    }

    private static void verifyScrapedMetrics(Server server) {
        List<String> lines = Http.get(server.baseUri().resolve("metrics"))
                .body()
                .lines()
                .filter(line -> line.startsWith("ratelimit_"))
                .toList();
        assertThat(value(lines, "ratelimit_decisions_total", "outcome=\"allowed\"", "endpoint=\"HelloResource.hello\""))
                .isEqualTo(5);
        assertThat(value(lines, "ratelimit_decisions_total", "outcome=\"rejected\"", "policy=\"hello\""))
                .isEqualTo(1);
        assertThat(value(lines, "ratelimit_check_duration_seconds_count", "backend=\"local\"", "result=\"allowed\""))
                .isEqualTo(5);
        assertThat(value(lines, "ratelimit_check_duration_seconds_sum", "result=\"allowed\""))
                .isBetween(0.000_000_1, 1.0);
        for (String bucket : List.of("0.001", "0.002", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0")) {
            assertThat(value(lines, "ratelimit_check_duration_seconds_bucket", "le=\"" + bucket + "\"", "allowed"))
                    .isBetween(0.0, 5.0);
        }
        assertThat(value(lines, "ratelimit_utilization_count", "policy=\"hello\"", "tier=\"none\""))
                .isEqualTo(6);
        assertThat(value(lines, "ratelimit_utilization_bucket", "le=\"90.0\"")).isEqualTo(4);
        assertThat(lines).noneMatch(line -> line.contains("127.0.0.1"));
        assertThat(lines.stream()
                        .map(line -> line.substring(0, line.indexOf('{')))
                        .filter(name -> name.endsWith("_total") || name.endsWith("_bucket")))
                .contains("ratelimit_decisions_total", "ratelimit_utilization_bucket")
                .isSubsetOf(OperationsFiles.exposed());
    }

    /** Returns the value of the first series with a name and texts in its tags. */
    private static double value(List<String> lines, String name, String... tags) {
        return lines.stream()
                .filter(line -> line.startsWith(name + "{") && Stream.of(tags).allMatch(line::contains))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .mapToDouble(Double::parseDouble)
                .findFirst()
                .orElseThrow(
                        () -> new AssertionError("no " + name + List.of(tags) + " in " + String.join("\n", lines)));
    }

    private static void verifyLog(Server server) {
        assertThat(server.messages())
                .containsPattern(
                        "WEIR-306 Policy hello rejected calls\\. .* Last rejection: HelloResource.hello, key i\\.~")
                .contains("WEIR-004");
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() < end) {
            LockSupport.parkNanos(50_000_000);
        }
    }
}
