// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.micrometer.core.instrument.Metrics;
import io.weir.ratelimit.core.metrics.Meters;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** The meters, in an application with the extension for Micrometer. */
@Singleton
public class MeterBeans {
    /** Produces the meters of the registry that contains all others. */
    @Produces
    @Singleton
    public Meters meters() {
        return new MicrometerMeters(Metrics.globalRegistry);
    }
}
