// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.spi.BackendListener;
import java.util.Optional;

/**
 * The listeners that record metrics.
 *
 * @param config records reloads and failed look-ups
 * @param nearLimit records the longest time for which a key has been near a limit
 * @param slots records the slots of running calls
 * @param backend records the calls of a shared backend; empty without one
 */
public record Metrics(
        Meters meters,
        DecisionMetrics decisions,
        ConfigMetrics config,
        NearLimitMetrics nearLimit,
        SlotMetrics slots,
        PenaltyMetrics penalties,
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
                new PenaltyMetrics(meters),
                local ? Optional.empty() : Optional.of(new BackendMetrics(meters)));
    }
}
