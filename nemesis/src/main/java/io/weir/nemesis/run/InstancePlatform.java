// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.engine.EngineEnvironment;
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
    public ConfigProperties.Sources properties() {
        return ConfigProperties.Sources.of(ConfigProperties.of(values));
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return Stream.of(backend, operations)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    @Override
    public <E> List<Consumer<E>> observers(Class<E> type) {
        return List.of(event -> print(event, lines));
    }

    /** Prints an event as a line. */
    static void print(Object event, Consumer<String> lines) {
        if (event instanceof QuotaThresholdReached reached) {
            lines.accept("THRESHOLD " + reached.policy() + " "
                    + reached.identity().parts().get(0).value() + " "
                    + reached.quota().resetAfter().toNanos() + " " + reached.percent() + " " + System.nanoTime());
        } else if (event instanceof PenaltyImposed penalty) {
            lines.accept(
                    "PENALTY " + penalty.policy() + " any " + penalty.duration().toNanos() + " 0 " + System.nanoTime());
        }
    }
}
