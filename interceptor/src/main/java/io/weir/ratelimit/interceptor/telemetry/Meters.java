// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/**
 * Makes the series of metrics, the same whichever API is behind it. A series is made once and kept: with it, recording needs
 * neither a tag nor a lookup. All series of one metric must have the same tag names.
 */
interface Meters {
    /** Counts by one. */
    Runnable counter(Metric metric, String... tagsAndValues);

    /** Takes durations in nanoseconds. */
    LongConsumer timer(Metric metric, String... tagsAndValues);

    /** Takes numbers from 0 to 1. */
    DoubleConsumer parts(Metric metric, String... tagsAndValues);

    /** Takes whole numbers from 1. */
    LongConsumer sizes(Metric metric);

    /** Takes how much there is now. */
    LongConsumer level(Metric metric);
}
