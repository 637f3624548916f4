// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.SourceListener;
import io.weir.ratelimit.core.slots.SlotListener;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of an application that measure and log.
 *
 * @param backend the listener for events of a shared backend; empty without one
 * @param spans the decorator for spans that start after the decision
 * @param sources the listener for failed look-ups of overrides
 * @param meters the meters of the host, for plug-ins; empty if none are recorded
 * @param nearLimit receives the longest time for which a key has been near a limit, by policy
 */
public record Telemetry(
        List<DecisionListener> listeners,
        List<BackendStateListener> backendStateListeners,
        Optional<BackendListener> backend,
        Spans spans,
        ReloadListener reloads,
        SourceListener sources,
        ResolverListener resolvers,
        Optional<Meters> meters,
        Consumer<Map<String, Duration>> nearLimit,
        SlotListener slots) {
    public static final Telemetry NONE = new Telemetry(
            List.of(),
            List.of(),
            Optional.empty(),
            Spans.NONE,
            result -> {},
            (policy, failure) -> {},
            (kind, resolver, failure) -> {},
            Optional.empty(),
            longest -> {},
            SlotListener.NONE);

    public Telemetry {
        listeners = List.copyOf(listeners);
        backendStateListeners = List.copyOf(backendStateListeners);
    }

    /** Returns the telemetry of an application; the metrics are empty if none are recorded. */
    public static Telemetry of(
            Optional<Metrics> metrics, Spans spans, List<Consumer<RateLimitRejected>> observers, KeyMasker keys) {
        List<DecisionListener> listeners = new ArrayList<>();
        metrics.ifPresent(recorded -> listeners.add(recorded.decisions()));
        if (spans != Spans.NONE) {
            listeners.add(spans);
        }
        listeners.add(new RejectionLog(keys, System::nanoTime));
        listeners.add(new ForeignStateLog(keys, System::nanoTime));
        observers.forEach(observer -> listeners.add(new RejectionNotifier(keys, observer)));
        return new Telemetry(
                listeners,
                metrics.<BackendStateListener>map(Metrics::decisions).stream().toList(),
                metrics.flatMap(Metrics::backend),
                spans,
                metrics.<ReloadListener>map(Metrics::config).orElse(NONE.reloads),
                metrics.<SourceListener>map(Metrics::config).orElse(NONE.sources),
                metrics.<ResolverListener>map(Metrics::config).orElse(NONE.resolvers),
                metrics.map(Metrics::meters),
                metrics.<Consumer<Map<String, Duration>>>map(Metrics::nearLimit).orElse(NONE.nearLimit),
                metrics.<SlotListener>map(Metrics::slots).orElse(NONE.slots));
    }

    /** The listeners that record metrics; that of the backend is empty without a shared one. */
    public record Metrics(
            Meters meters,
            DecisionMetrics decisions,
            ConfigMetrics config,
            NearLimitMetrics nearLimit,
            SlotMetrics slots,
            Optional<BackendListener> backend) {
        /** Creates the listeners, which register their meters. */
        public static Metrics of(Meters meters, Settings settings, String backend) {
            boolean local = backend.equals(DecisionMetrics.LOCAL);
            return new Metrics(
                    meters,
                    new DecisionMetrics(local ? new SampledMeters(meters, Sampling::ofProcess) : meters, backend),
                    new ConfigMetrics(meters, settings.reloads()),
                    new NearLimitMetrics(meters),
                    new SlotMetrics(meters),
                    local ? Optional.empty() : Optional.of(new BackendMetrics(meters)));
        }
    }

    /**
     * A listener that sets the attributes of the current span. It gets a decision again when a server starts the span after the filters.
     */
    public interface Spans extends DecisionListener {
        /** A listener without telemetry, which sets no attributes. */
        Spans NONE = new Spans() {
            @Override
            public boolean hasCurrentSpan() {
                return true;
            }

            @Override
            public void onDecision(DecisionEvent event) {
                // There is no span.
            }
        };

        /** Returns whether the calling thread has a span, recorded or not. */
        boolean hasCurrentSpan();

        /**
         * The attributes of a decision on a span, which shows the stored key masked. The quota rejected the call, else it is the one
         * closest to exhaustion; null if the decision has no quotas.
         */
        record Attributes(
                String policy,
                String direction,
                boolean allowed,
                long cost,
                boolean degraded,
                String storedKey,
                @Nullable Quota quota) {
            public static Attributes of(DecisionEvent event) {
                DecisiveCharge decisive = DecisiveCharge.of(event);
                Decision decision = event.decision();
                return new Attributes(
                        decisive.charge().policy().policy(),
                        DecisionMetrics.direction(event.endpoint()),
                        decision.allowed(),
                        decisive.charge().cost(),
                        decision instanceof Decision.Degraded,
                        decisive.charge().storedKey(),
                        decisive.quota());
            }
        }
    }
}
