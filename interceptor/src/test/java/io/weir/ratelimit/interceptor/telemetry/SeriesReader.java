// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.smallrye.metrics.SharedMetricRegistries;
import io.weir.ratelimit.core.metrics.Meters;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.metrics.Histogram;
import org.eclipse.microprofile.metrics.MetricID;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Timer;

/** A metrics API with its recorded series. The name of a series is {@code name{tag=value, ...}} with its tags in order. */
sealed interface SeriesReader {
    Meters meters();

    Map<String, Long> counts();

    /** Returns the number and the sum in seconds. */
    Map<String, List<Double>> times();

    /** Returns the number and the sum of ratios from 0 to 1. */
    Map<String, List<Double>> ratios();

    /** Returns the number and the sum. */
    Map<String, List<Double>> sizes();

    /** Returns the current values. */
    Map<String, Long> gauges();

    default List<String> everything() {
        return Stream.of(counts(), times(), ratios(), sizes(), gauges())
                .flatMap(map -> map.keySet().stream())
                .toList();
    }

    private static boolean isSize(String name) {
        return name.endsWith(".size");
    }

    private static double rounded(double value) {
        return Math.round(value * 1e9) / 1e9;
    }

    final class MicroProfile implements SeriesReader {
        private final MetricRegistry registry = SharedMetricRegistries.getOrCreate("test");

        MicroProfile() {
            registry.removeMatching((id, metric) -> true);
        }

        @Override
        public Meters meters() {
            return new MicroProfileMeters(registry);
        }

        @Override
        public Map<String, Long> counts() {
            return registry.getCounters().entrySet().stream()
                    .collect(Collectors.toMap(
                            entry -> text(entry.getKey()),
                            entry -> entry.getValue().getCount()));
        }

        @Override
        public Map<String, List<Double>> times() {
            return registry.getTimers().entrySet().stream()
                    .collect(Collectors.toMap(entry -> text(entry.getKey()), entry -> {
                        Timer timer = entry.getValue();
                        return List.of(
                                (double) timer.getCount(),
                                rounded(timer.getElapsedTime().toNanos() / 1e9));
                    }));
        }

        @Override
        public Map<String, List<Double>> ratios() {
            return histograms(name -> !isSize(name), 100.0);
        }

        @Override
        public Map<String, List<Double>> sizes() {
            return histograms(SeriesReader::isSize, 1.0);
        }

        private Map<String, List<Double>> histograms(Predicate<String> names, double whole) {
            return registry.getHistograms().entrySet().stream()
                    .filter(entry -> names.test(entry.getKey().getName()))
                    .collect(Collectors.toMap(entry -> text(entry.getKey()), entry -> {
                        Histogram histogram = entry.getValue();
                        return List.of((double) histogram.getCount(), rounded(histogram.getSum() / whole));
                    }));
        }

        @Override
        public Map<String, Long> gauges() {
            return registry.getGauges().entrySet().stream()
                    .collect(Collectors.toMap(
                            entry -> text(entry.getKey()),
                            entry -> entry.getValue().getValue().longValue()));
        }

        private static String text(MetricID id) {
            return id.getName() + new TreeMap<>(id.getTags());
        }

        @Override
        public String toString() {
            return "MicroProfile Metrics";
        }
    }

    final class OpenTelemetry implements SeriesReader {
        private final InMemoryMetricReader reader = InMemoryMetricReader.create();
        private final io.opentelemetry.api.OpenTelemetry api = OpenTelemetrySdk.builder()
                .setMeterProvider(
                        SdkMeterProvider.builder().registerMetricReader(reader).build())
                .build();

        @Override
        public Meters meters() {
            return new OpenTelemetryMeters(api);
        }

        private Collection<MetricData> data() {
            return reader.collectAllMetrics();
        }

        @Override
        public Map<String, Long> counts() {
            return sums(true);
        }

        @Override
        public Map<String, Long> gauges() {
            return sums(false);
        }

        private Map<String, Long> sums(boolean monotonic) {
            Map<String, Long> sums = new TreeMap<>();
            for (MetricData metric : data()) {
                if (metric.getType() == MetricDataType.LONG_SUM
                        && metric.getLongSumData().isMonotonic() == monotonic) {
                    for (LongPointData point : metric.getLongSumData().getPoints()) {
                        sums.put(text(metric, point.getAttributes()), point.getValue());
                    }
                }
            }
            return sums;
        }

        @Override
        public Map<String, List<Double>> times() {
            return histograms(metric -> metric.getUnit().equals("s"));
        }

        @Override
        public Map<String, List<Double>> ratios() {
            return histograms(metric -> metric.getUnit().equals("1") && !isSize(metric.getName()));
        }

        @Override
        public Map<String, List<Double>> sizes() {
            return histograms(metric -> isSize(metric.getName()));
        }

        List<Double> buckets(String name) {
            return data().stream()
                    .filter(metric -> metric.getName().equals(name))
                    .flatMap(metric -> metric.getHistogramData().getPoints().stream())
                    .findFirst()
                    .orElseThrow()
                    .getBoundaries();
        }

        private Map<String, List<Double>> histograms(Predicate<MetricData> selected) {
            Map<String, List<Double>> histograms = new TreeMap<>();
            for (MetricData metric : data()) {
                if (metric.getType() == MetricDataType.HISTOGRAM && selected.test(metric)) {
                    for (HistogramPointData point : metric.getHistogramData().getPoints()) {
                        histograms.put(
                                text(metric, point.getAttributes()),
                                List.of((double) point.getCount(), rounded(point.getSum())));
                    }
                }
            }
            return histograms;
        }

        private static String text(MetricData metric, Attributes attributes) {
            Map<String, Object> tags = new TreeMap<>();
            attributes.forEach((key, value) -> tags.put(key.getKey(), value));
            return metric.getName() + tags;
        }

        @Override
        public String toString() {
            return "OpenTelemetry";
        }
    }
}
