// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.BackendStateListener;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.SourceListener;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Chooses what an operator will see, by what the server has and shows to the application.
 *
 * @param listeners hear of decisions
 * @param storeListeners hear of the store
 * @param backend hears of what a shared store does, if there is one
 * @param spans marks spans that begin after the decision
 * @param reloads hears of changes of configuration
 * @param sources hears of look-ups that came to nothing
 */
public record Telemetry(
        List<DecisionListener> listeners,
        List<BackendStateListener> storeListeners,
        Optional<BackendListener> backend,
        SpanMarks spans,
        ReloadListener reloads,
        SourceListener sources) {
    /** Nothing is seen. */
    public static final Telemetry NONE = new Telemetry(
            List.of(), List.of(), Optional.empty(), SpanMarks.NONE, result -> {}, (policy, failure) -> {});

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    /** The store that does nothing of which a listener would hear. */
    private static final String IN_PROCESS = "local";

    private static final String METRICS_API = "org.eclipse.microprofile.metrics.MetricRegistry";
    private static final String TRACES_API = "io.opentelemetry.api.trace.Span";

    /** Copies the lists. */
    public Telemetry {
        listeners = List.copyOf(listeners);
        storeListeners = List.copyOf(storeListeners);
    }

    /** Where a server's own objects are found. */
    @FunctionalInterface
    public interface Beans {
        /**
         * An object of a type.
         *
         * @param type the type
         * @param <T> the type
         * @return the object, empty if there is none or more than one
         */
        <T> Optional<T> find(Class<T> type);
    }

    /** Where metrics go, and in which words to say so. */
    private record Destination(
            DecisionMetrics metrics, ConfigMetrics config, Optional<BackendListener> backend, String name) {
        static Destination of(Meters meters, Settings settings, String store, String name) {
            return new Destination(
                    new DecisionMetrics(meters, store),
                    new ConfigMetrics(meters, settings.reloads()),
                    store.equals(IN_PROCESS) ? Optional.empty() : Optional.of(new BackendMetrics(meters)),
                    name);
        }
    }

    /**
     * Chooses and says at INFO what is on and what is off.
     *
     * @param settings what is wanted
     * @param backend the store's name
     * @param beans the server's objects
     * @param exporting whether OpenTelemetry is told to do anything
     * @param observers hear of refusals, with keys that may be shown
     * @param keys how keys are shown
     * @param problems takes what is wanted and not there
     * @return what hears of decisions and of the store
     */
    public static Telemetry choose(
            Settings settings,
            String backend,
            Beans beans,
            boolean exporting,
            List<Consumer<RateLimitRejected>> observers,
            KeyMasker keys,
            Problems problems) {
        List<DecisionListener> listeners = new ArrayList<>();
        List<BackendStateListener> storeListeners = new ArrayList<>();
        Optional<Destination> metrics = destination(settings, backend, beans, problems);
        metrics.ifPresent(destination -> {
            listeners.add(destination.metrics);
            storeListeners.add(destination.metrics);
        });
        SpanMarks spans = SpanMarks.NONE;
        if (isThere(TRACES_API)) {
            SpanAttributes attributes = new SpanAttributes(keys);
            listeners.add(attributes);
            spans = attributes;
        }
        listeners.add(new RejectionLog(keys, System::nanoTime));
        observers.forEach(observer -> listeners.add(new Rejections(keys, observer)));
        if (problems.found().isEmpty()) {
            say(settings, metrics, spans != SpanMarks.NONE, exporting);
        }
        return new Telemetry(
                listeners,
                storeListeners,
                metrics.flatMap(Destination::backend),
                spans,
                metrics.<ReloadListener>map(Destination::config).orElse(NONE.reloads),
                metrics.<SourceListener>map(Destination::config).orElse(NONE.sources));
    }

    private static void say(Settings settings, Optional<Destination> metrics, boolean spans, boolean exporting) {
        String noMetrics = settings.metrics() == Settings.Metrics.NONE
                ? "off (ratelimit.metrics=none)"
                : "off (neither MicroProfile Metrics nor OpenTelemetry is available to the application)";
        String spanAttributes = spans
                ? exporting ? "on" : "on, but OpenTelemetry is off until otel.sdk.disabled=false"
                : "off (OpenTelemetry is not available to the application)";
        MESSAGES.log(
                LOG, "WEIR-003", metrics.map(destination -> destination.name).orElse(noMetrics), spanAttributes);
        if (settings.keySecret().isEmpty()) {
            MESSAGES.log(LOG, "WEIR-004");
        }
    }

    private static Optional<Destination> destination(
            Settings settings, String backend, Beans beans, Problems problems) {
        Settings.Metrics wanted = settings.metrics();
        Optional<Destination> found = Optional.empty();
        if ((wanted == Settings.Metrics.MP || wanted == Settings.Metrics.AUTO) && isThere(METRICS_API)) {
            found = destination("MicroProfile Metrics", settings, backend, () -> MicroProfileMeters.find(beans));
        }
        if ((wanted == Settings.Metrics.OTEL || (wanted == Settings.Metrics.AUTO && found.isEmpty()))
                && isThere(TRACES_API)) {
            found = destination("OpenTelemetry", settings, backend, () -> OpenTelemetryMeters.find(beans));
        }
        if (found.isEmpty() && (wanted == Settings.Metrics.MP || wanted == Settings.Metrics.OTEL)) {
            boolean mp = wanted == Settings.Metrics.MP;
            problems.add(MESSAGES.problem(
                    "WEIR-211",
                    "ratelimit.metrics",
                    mp ? "mp" : "otel",
                    mp ? "MicroProfile Metrics" : "OpenTelemetry"));
        }
        return found;
    }

    /** An API that is there and fails is none: metrics are no reason for an application not to start. */
    private static Optional<Destination> destination(
            String name, Settings settings, String backend, Supplier<Optional<Meters>> meters) {
        try {
            return meters.get().map(found -> Destination.of(found, settings, backend, name));
        } catch (RuntimeException | LinkageError e) {
            MESSAGES.log(LOG, e, "WEIR-307", name);
            return Optional.empty();
        }
    }

    /** Asked of this library's own class loader: that of the thread can find classes that this code would not. */
    private static boolean isThere(String type) {
        try {
            Class.forName(type, false, Telemetry.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
