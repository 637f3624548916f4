// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.metrics.Meter;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Meters;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.interceptor.OptionalApi;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.microprofile.metrics.MetricRegistry;

/** The telemetry APIs of the server. Which of them are used depends on the settings and on what is available to the application. */
public record TelemetryApis(Settings settings, String backend, Beans beans, Export export) {
    /** A look-up of objects of the server. */
    @FunctionalInterface
    public interface Beans {
        /** Finds an object of a type; empty if there is none or more than one. */
        <T> Optional<T> find(Class<T> type);
    }

    /** What OpenTelemetry exports, as the server is configured. */
    public enum Export {
        /** OpenTelemetry is disabled, its default. */
        NOTHING,
        /** OpenTelemetry is enabled, but without an exporter of metrics. */
        SPANS,
        /** Metrics, and spans as well. */
        METRICS;

        /** Returns what MicroProfile Telemetry exports, by default nothing. */
        public static Export of(ConfigProperties config) {
            if (!isSet(config, "otel.sdk.disabled", "false")) {
                return NOTHING;
            }
            return isSet(config, "otel.metrics.exporter", "none") ? SPANS : METRICS;
        }

        private static boolean isSet(ConfigProperties config, String property, String expected) {
            return config.get(property)
                    .value()
                    .filter(expected::equalsIgnoreCase)
                    .isPresent();
        }
    }

    /** The metrics, with the name of their API. */
    private record Destination(Telemetry.Metrics metrics, String name) {}

    /** Chooses the telemetry, and logs the choice. It is a problem if the configured API is not available. */
    public Telemetry choose(List<Consumer<RateLimitRejected>> observers, KeyMasker keys, Problems problems) {
        Optional<Destination> metrics = destination(problems);
        Telemetry.Spans spans = OptionalApi.OPENTELEMETRY.isVisible() ? new SpanAttributes(keys) : Telemetry.Spans.NONE;
        if (problems.found().isEmpty()) {
            log(metrics, spans != Telemetry.Spans.NONE);
        }
        return Telemetry.of(metrics.map(Destination::metrics), spans, observers, keys);
    }

    private void log(Optional<Destination> metrics, boolean spans) {
        String noMetrics = settings.metrics() == Settings.Metrics.NONE
                ? "off (ratelimit.metrics=none)"
                : "off (neither MicroProfile Metrics nor OpenTelemetry is available to the application)";
        String spanAttributes = spans
                ? export != Export.NOTHING
                        ? "on"
                        : "on, but OpenTelemetry is off until otel.sdk.disabled is false, on Quarkus quarkus.otel.sdk.disabled"
                : "off (OpenTelemetry is not available to the application)";
        MESSAGES.log("WEIR-003", metrics.map(destination -> destination.name).orElse(noMetrics), spanAttributes);
        if (settings.keySecret().isEmpty()) {
            MESSAGES.log("WEIR-004");
        }
    }

    private Optional<Destination> destination(Problems problems) {
        return switch (settings.metrics()) {
            case NONE -> Optional.empty();
            case MP -> microProfile().or(() -> missing("mp", "MicroProfile Metrics", problems));
            case OTEL -> openTelemetry(this::openTelemetryMeters).or(() -> missing("otel", "OpenTelemetry", problems));
            case AUTO -> automatic();
        };
    }

    private static Optional<Destination> missing(String value, String api, Problems problems) {
        problems.add(MESSAGES.problem("WEIR-211", "ratelimit.metrics", value, api));
        return Optional.empty();
    }

    /**
     * Prefers OpenTelemetry from MicroProfile 7 on, if it exports metrics: MicroProfile Telemetry has metrics from 2.0 on, with a {@link
     * Meter} to inject, and other meters would drop what MicroProfile Metrics can show. A host with Micrometer has a bean for its meters.
     */
    private Optional<Destination> automatic() {
        Optional<Destination> standard = export == Export.METRICS
                ? openTelemetry(() -> beans.find(Meter.class).isPresent() ? openTelemetryMeters() : Optional.empty())
                        .map(found -> new Destination(found.metrics, found.name + " (auto: it exports metrics)"))
                : Optional.empty();
        return standard.or(() -> destination("Micrometer", () -> beans.find(Meters.class)))
                .or(this::microProfile)
                .or(() -> openTelemetry(this::openTelemetryMeters));
    }

    private Optional<Destination> microProfile() {
        return OptionalApi.MICROPROFILE_METRICS.isVisible()
                ? destination(
                        "MicroProfile Metrics",
                        () -> beans.find(MetricRegistry.class).map(MicroProfileMeters::new))
                : Optional.empty();
    }

    private Optional<Destination> openTelemetry(Supplier<Optional<Meters>> meters) {
        return OptionalApi.OPENTELEMETRY.isVisible() ? destination("OpenTelemetry", meters) : Optional.empty();
    }

    private Optional<Meters> openTelemetryMeters() {
        return beans.find(OpenTelemetry.class).map(OpenTelemetryMeters::new);
    }

    /** Creates the meters. An API that fails is not used, because metrics must not prevent the start of an application. */
    private Optional<Destination> destination(String name, Supplier<Optional<Meters>> meters) {
        try {
            return meters.get().map(found -> new Destination(Telemetry.Metrics.of(found, settings, backend), name));
        } catch (RuntimeException | LinkageError e) {
            MESSAGES.log(e, "WEIR-307", name);
            return Optional.empty();
        }
    }
}
