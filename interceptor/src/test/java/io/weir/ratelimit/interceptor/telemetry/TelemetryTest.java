// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.smallrye.metrics.SharedMetricRegistries;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.DecisionMetrics;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.interceptor.WithoutApi;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TelemetryTest {
    private static final String SPANS_ON = ". Span attributes: on.";

    private final LogCapture log = new LogCapture();
    private final Problems problems = new Problems();

    @AfterEach
    void closeLog() {
        log.close();
    }

    /** A server with the metrics APIs whose names {@code has} contains. */
    private record Server(String has) implements TelemetryApis.Beans {
        @Override
        public <T> Optional<T> find(Class<T> type) {
            return Stream.of(
                            Map.entry("mp", SharedMetricRegistries.getOrCreate("test")),
                            Map.entry("otel", OpenTelemetry.noop()),
                            Map.entry("meter", OpenTelemetry.noop().getMeter("test")))
                    .filter(entry -> has.contains(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .filter(type::isInstance)
                    .map(type::cast)
                    .findFirst();
        }
    }

    private static Settings settings(String... properties) {
        Map<String, String> values = properties.length == 0 ? Map.of() : Map.of(properties[0], properties[1]);
        return Settings.read(ConfigProperties.of(values), new Problems());
    }

    private Telemetry choose(String metrics, String serverHas) {
        return choose(metrics, serverHas, TelemetryApis.Export.METRICS);
    }

    private Telemetry choose(String metrics, String serverHas, TelemetryApis.Export export) {
        return new TelemetryApis(settings("ratelimit.metrics", metrics), "local", new Server(serverHas), export)
                .choose(List.of(), new KeyMasker(Optional.empty()), problems);
    }

    @Test
    void noListenerNeedsAnAllowedDecisionWithoutMetricsAndSpans() {
        Decision allowed = Events.allowed(List.of(Events.charge(Events.LOGIN, Events.USER, 1)), 9)
                .decision();
        assertThat(choose("none", "").listeners()).isNotEmpty().noneMatch(listener -> listener.needs(allowed));
    }

    @ParameterizedTest
    @CsvSource({
        "auto, mp+otel, MicroProfile Metrics",
        "auto, mp+otel+meter, OpenTelemetry (auto: it exports metrics)",
        "auto, otel+meter,    OpenTelemetry (auto: it exports metrics)",
        "auto, mp,      MicroProfile Metrics",
        "auto, otel,    OpenTelemetry",
        "auto, '',      off (neither MicroProfile Metrics nor OpenTelemetry is available to the application)",
        "mp,   mp+otel, MicroProfile Metrics",
        "otel, mp+otel, OpenTelemetry",
        "none, mp+otel, off (ratelimit.metrics=none)"
    })
    void usesTheMetricsApiOfTheServer(String wanted, String serverHas, String logged) {
        Telemetry telemetry = choose(wanted, serverHas);
        boolean on = !logged.startsWith("off");
        assertThat(telemetry.listeners().stream().filter(DecisionMetrics.class::isInstance))
                .hasSize(on ? 1 : 0);
        assertThat(telemetry.backendStateListeners()).hasSize(on ? 1 : 0);
        assertThat(log.lines()).first().isEqualTo("INFO WEIR-003 Metrics: " + logged + SPANS_ON);
        assertThat(problems.found()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "NOTHING, mp+otel+meter, MicroProfile Metrics",
        "SPANS,   mp+otel+meter, MicroProfile Metrics",
        "NOTHING, otel+meter,    OpenTelemetry",
        "NOTHING, otel,          OpenTelemetry"
    })
    void prefersMicroProfileMetricsIfOpenTelemetryExportsNoMetrics(
            TelemetryApis.Export export, String serverHas, String logged) {
        choose("auto", serverHas, export);
        assertThat(log.lines()).first().asString().startsWith("INFO WEIR-003 Metrics: " + logged + ". Span");
    }

    @ParameterizedTest
    @CsvSource({
        "local,    auto, mp,   false",
        "redisson, auto, mp,   true",
        "redisson, auto, otel, true",
        "redisson, none, mp,   false",
        "redisson, auto, '',   false"
    })
    void measuresBatchesOfASharedBackendIfAMetricsApiExists(
            String backend, String wanted, String serverHas, boolean measured) {
        MetricRegistry registry = SharedMetricRegistries.getOrCreate("test");
        registry.removeMatching((id, metric) -> true);
        Telemetry telemetry = new TelemetryApis(
                        settings("ratelimit.metrics", wanted),
                        backend,
                        new Server(serverHas),
                        TelemetryApis.Export.METRICS)
                .choose(List.of(), new KeyMasker(Optional.empty()), problems);
        assertThat(telemetry.backend().isPresent()).isEqualTo(measured);
        assertThat(registry.getNames().stream().filter(name -> name.endsWith(".size")))
                .as("created at deployment, on a thread of the application")
                .hasSize(measured && serverHas.equals("mp") ? 2 : 0);
    }

    @ParameterizedTest
    @CsvSource({"mp, otel, MicroProfile Metrics", "otel, mp, OpenTelemetry"})
    void aMissingConfiguredApiIsADeploymentProblem(String wanted, String serverHas, String name) {
        choose(wanted, serverHas);
        assertThat(problems.found())
                .extracting(ConfigurationProblem::toString)
                .singleElement()
                .asString()
                .startsWith("WEIR-211 ratelimit.metrics = " + wanted + ": " + name + " is not available");
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void logsThatKeysAreHashedUnderASecretOfTheProcess() {
        choose("auto", "mp");
        assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-004"));
    }

    @Test
    void doesNotLogThisWithAKeySecret() {
        new TelemetryApis(
                        settings("ratelimit.key-secret", "0123456789abcdef"),
                        "local",
                        new Server(""),
                        TelemetryApis.Export.METRICS)
                .choose(List.of(), new KeyMasker(Optional.empty()), problems);
        assertThat(log.lines()).hasSize(1).noneMatch(line -> line.contains("WEIR-004"));
    }

    @Test
    void logsThatOpenTelemetryIsOff() {
        new TelemetryApis(settings(), "local", new Server("otel"), TelemetryApis.Export.NOTHING)
                .choose(List.of(), new KeyMasker(Optional.empty()), problems);
        assertThat(log.lines())
                .first()
                .asString()
                .endsWith(
                        "Span attributes: on, but OpenTelemetry is off until otel.sdk.disabled is false, on Quarkus quarkus.otel.sdk.disabled.");
    }

    @Test
    void anApiThatFailsIsNotUsedAndDoesNotPreventTheStart() {
        TelemetryApis.Beans failing = new TelemetryApis.Beans() {
            @Override
            public <T> Optional<T> find(Class<T> type) {
                if (type == MetricRegistry.class) {
                    throw new NoSuchMethodError("older than expected");
                }
                return new Server("otel").find(type);
            }
        };
        Telemetry telemetry = new TelemetryApis(settings(), "local", failing, TelemetryApis.Export.METRICS)
                .choose(List.of(), new KeyMasker(Optional.empty()), problems);
        assertThat(telemetry.listeners()).hasAtLeastOneElementOfType(DecisionMetrics.class);
        assertThat(log.lines())
                .first()
                .asString()
                .startsWith("WARNING WEIR-307 MicroProfile Metrics is available but fails.");
        assertThat(problems.found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.eclipse.microprofile.metrics.", "io.opentelemetry."})
    void aMissingApiDisablesOnlyItsOwnListeners(String hidden) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // The class loader of the thread finds the API, but that of the library does not.
        thread.setContextClassLoader(getClass().getClassLoader());
        try {
            Object listeners = new WithoutApi(hidden)
                    .loadClass(Chooser.class.getName())
                    .getMethod("choose")
                    .invoke(null);
            boolean traces = hidden.startsWith("org.");
            assertThat(listeners)
                    .isEqualTo(
                            traces
                                    ? "[DecisionMetrics, SpanAttributes, RejectionLog, ForeignStateLog]"
                                    : "[DecisionMetrics, RejectionLog, ForeignStateLog]");
            assertThat(log.lines())
                    .first()
                    .asString()
                    .contains(traces ? "Metrics: OpenTelemetry." : "Metrics: MicroProfile Metrics.")
                    .endsWith(
                            traces
                                    ? "Span attributes: on."
                                    : "off (OpenTelemetry is not available to the application).");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** The code that runs in a class loader without an API. */
    public static final class Chooser {
        private Chooser() {}

        public static String choose() {
            List<DecisionListener> listeners = new TelemetryApis(
                            settings(), "local", Chooser::find, TelemetryApis.Export.METRICS)
                    .choose(List.of(), new KeyMasker(Optional.empty()), new Problems())
                    .listeners();
            return listeners.stream()
                    .map(listener -> listener.getClass().getSimpleName())
                    .toList()
                    .toString();
        }

        private static <T> Optional<T> find(Class<T> type) {
            if (type.getSimpleName().startsWith("Meter")) {
                return Optional.empty();
            }
            return type.getSimpleName().equals("MetricRegistry")
                    ? Optional.of(type.cast(Registries.registry()))
                    : Optional.of(type.cast(Otel.noop()));
        }
    }

    /** A separate class, because only one of the two APIs can be linked. */
    public static final class Registries {
        private Registries() {}

        static MetricRegistry registry() {
            return SharedMetricRegistries.getOrCreate("test");
        }
    }

    /** A separate class, because only one of the two APIs can be linked. */
    public static final class Otel {
        private Otel() {}

        static OpenTelemetry noop() {
            return OpenTelemetry.noop();
        }
    }
}
