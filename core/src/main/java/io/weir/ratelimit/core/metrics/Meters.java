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

    List<Double> RATIOS = List.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0);

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

    /** Ends the gauges with the application, if their values would outlive it. Later values have no effect. */
    default void close() {}

    /** The metrics. Their names are part of the public interface. */
    enum Metric {
        DECISIONS("ratelimit.decisions", "Decisions, one for each policy of a call"),
        PENALTIES("ratelimit.penalties", "Penalties: blocks of keys after many rejections"),
        SETTLED("ratelimit.settled", "Charges whose reserved cost was replaced by the actual cost"),
        CONCURRENCY("ratelimit.concurrency", "Slots of concurrency limits that running calls of this instance hold"),
        CONCURRENCY_LOST("ratelimit.concurrency.lost", "Running calls whose slot expired because it was not renewed"),
        CHECK_DURATION("ratelimit.check.duration", "Time until the backend decided or failed"),
        BACKEND_ERRORS("ratelimit.backend.errors", "Failed operations of the backend"),
        UTILIZATION("ratelimit.utilization", "Spent part of the fullest limit of a key after each decision"),
        NEAR_LIMIT("ratelimit.near.limit.minutes", "Longest time for which a key has been near a limit, in minutes"),
        BATCH_DURATION("ratelimit.batch.duration", "Time between sending a batch and receiving the reply"),
        BATCH_SIZE("ratelimit.batch.size", "Acquire requests in one batch"),
        QUEUE_SIZE("ratelimit.queue.size", "Stored keys of the requests that waited after the last batch was sent"),
        BREAKER_OPEN("ratelimit.breaker.open", "1 while the breaker is open, else 0"),
        LEASES("ratelimit.leases", "Keys for which this instance holds a lease"),
        CONFIG_RELOADS(
                "ratelimit.config.reloads", "Changes of the configuration while the application runs, by result"),
        POLICY_SOURCE_ERRORS("ratelimit.policy.source.errors", "Failed look-ups of overrides"),
        RESOLVER_ERRORS("ratelimit.resolver.errors", "Failures of key resolvers and tier resolvers"),
        RECEIPTS("ratelimit.receipts", "Receipts of the edge in requests, by result"),
        CLIENT_PAUSES("ratelimit.client.pauses", "Answers of an upstream that pause a REST client"),
        CLIENT_RETRIES("ratelimit.client.retries", "Retries of a REST client, by the decision of its retry budget");

        private final String label;
        private final String description;

        Metric(String label, String description) {
            this.label = label;
            this.description = description;
        }

        public String label() {
            return label;
        }

        public String description() {
            return description;
        }
    }
}
