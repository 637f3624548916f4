// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import java.util.List;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/**
 * A factory for the series of metrics, independent of the metrics API. A caller keeps a series, so that recording needs no tags and no
 * look-up. All series of one metric must have the same tag names.
 */
public interface Meters {
    /** The buckets of durations. Those of MicroProfile Metrics are in the configuration of the module for servers. */
    List<Double> SECONDS =
            List.of(0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0);

    /** The buckets of ratios. */
    List<Double> RATIOS = List.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0);

    /** The buckets of sizes. */
    List<Double> SIZES = List.of(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0);

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
