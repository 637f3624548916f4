// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** A collector that receives OTLP/HTTP exports in protobuf. */
final class OtlpReceiver implements AutoCloseable {
    private final List<Map<String, Object>> spans = new CopyOnWriteArrayList<>();
    private final Map<String, Long> counters = new ConcurrentHashMap<>();
    private final Map<String, Metric> metrics = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    OtlpReceiver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/v1/traces", exchange -> receive(exchange, this::addSpans));
        server.createContext("/v1/metrics", exchange -> receive(exchange, this::addMetrics));
        server.createContext("/v1/logs", exchange -> receive(exchange, InputStream::readAllBytes));
        server.start();
    }

    String endpoint() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    /** Returns the attributes of the spans with an attribute, in the order of their end. */
    List<Map<String, Object>> spansWith(String attribute) {
        return spans.stream().filter(span -> span.containsKey(attribute)).toList();
    }

    /** Returns the counters by {@code name{tag=value, ...}}. */
    Map<String, Long> counters() {
        return Map.copyOf(counters);
    }

    /** Returns the sum of the counters with a name and tags as {@code tag=value}; 0 if there is none. */
    double sum(String name, String... tags) {
        return counters.entrySet().stream()
                .filter(counter -> counter.getKey().startsWith(name + "{"))
                .filter(counter -> Stream.of(tags).allMatch(counter.getKey()::contains))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    Metric metric(String name) {
        return metrics.get(name);
    }

    /** Returns the latest metric of each name. */
    List<Metric> metrics() {
        return List.copyOf(metrics.values());
    }

    private interface BodyReader {
        void read(InputStream body) throws IOException;
    }

    private static void receive(HttpExchange exchange, BodyReader reader) throws IOException {
        try (exchange) {
            boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
            reader.read(zipped ? new GZIPInputStream(exchange.getRequestBody()) : exchange.getRequestBody());
            exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, -1);
        }
    }

    private void addSpans(InputStream body) throws IOException {
        ExportTraceServiceRequest.parseFrom(body).getResourceSpansList().stream()
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .flatMap(scope -> scope.getSpansList().stream())
                .map(Span::getAttributesList)
                .map(OtlpReceiver::attributes)
                .forEach(spans::add);
    }

    private void addMetrics(InputStream body) throws IOException {
        ExportMetricsServiceRequest.parseFrom(body).getResourceMetricsList().stream()
                .flatMap(resource -> resource.getScopeMetricsList().stream())
                .flatMap(scope -> scope.getMetricsList().stream())
                .forEach(metric -> {
                    metrics.put(metric.getName(), metric);
                    for (NumberDataPoint point : metric.getSum().getDataPointsList()) {
                        counters.put(metric.getName() + attributes(point.getAttributesList()), point.getAsInt());
                    }
                });
    }

    private static Map<String, Object> attributes(List<KeyValue> list) {
        Map<String, Object> attributes = new TreeMap<>();
        list.forEach(attribute -> attributes.put(attribute.getKey(), value(attribute.getValue())));
        return attributes;
    }

    private static Object value(AnyValue value) {
        return switch (value.getValueCase()) {
            case BOOL_VALUE -> value.getBoolValue();
            case INT_VALUE -> value.getIntValue();
            default -> value.getStringValue();
        };
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
