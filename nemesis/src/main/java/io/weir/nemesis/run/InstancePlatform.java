// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.PropertySources;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.instance.ApplicationEvents;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The host of an instance. It is one of plain Java that observes events.
 *
 * @param lines receives each event as a line
 */
record InstancePlatform(
        Map<String, String> values,
        RateLimitBackend backend,
        OperationsPlugin operations,
        EngineEnvironment environment,
        Consumer<String> lines)
        implements Platform {
    @Override
    public PropertySources properties() {
        return PropertySources.of(ConfigProperties.of(values));
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return Stream.of(backend, operations)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    @Override
    public ApplicationEvents events() {
        return new ApplicationEvents() {
            @Override
            public List<Consumer<QuotaThresholdReached>> thresholdObservers() {
                return List.of(event -> lines.accept("THRESHOLD " + event.policy() + " "
                        + event.identity().parts().get(0).value() + " "
                        + event.quota().resetAfter().toNanos() + " " + event.percent() + " " + System.nanoTime()));
            }

            @Override
            public List<Consumer<PenaltyImposed>> penaltyObservers() {
                return List.of(event -> lines.accept("PENALTY " + event.policy() + " any "
                        + event.duration().toNanos() + " 0 " + System.nanoTime()));
            }
        };
    }
}
