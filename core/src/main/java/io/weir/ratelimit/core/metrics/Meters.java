// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/**
 * A factory for the series of metrics, independent of the metrics API. A caller keeps a series, so that recording needs no tags and no
 * look-up. All series of one metric must have the same tag names.
 */
public interface Meters {
    /** Creates a counter that counts by one. */
    Runnable counter(Metric metric, String... tagsAndValues);

    /** Creates a histogram of durations in nanoseconds. */
    LongConsumer timer(Metric metric, String... tagsAndValues);

    /** Creates a histogram of ratios from 0 to 1. */
    DoubleConsumer ratios(Metric metric, String... tagsAndValues);

    /** Creates a histogram of integers from 1. */
    LongConsumer sizes(Metric metric);

    /** Creates a gauge, which records the current value. */
    LongConsumer gauge(Metric metric, String... tagsAndValues);
}
