// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

/** The metrics; their names are public. */
enum Metric {
    DECISIONS("ratelimit.decisions", "Decisions, one per policy that was applied to a call"),
    CHECK_DURATION("ratelimit.check.duration", "How long the store took to decide or to fail"),
    BACKEND_ERRORS("ratelimit.backend.errors", "Operations that the store could not do"),
    UTILIZATION("ratelimit.utilization", "How much of its fullest limit a key had spent, seen after each decision"),
    FLIGHT_SIZE("ratelimit.batch.size", "Checks that left together in one call of the store"),
    QUEUE_SIZE("ratelimit.queue.size", "Stored keys whose checks waited when the latest flight had left"),
    BREAKER_OPEN(
            "ratelimit.breaker.open", "1 while the store is not asked because it failed too often in a row, else 0"),
    LEASES("ratelimit.leases", "Keys for which this instance holds permits ahead"),
    CONFIG_RELOADS("ratelimit.config.reloads", "Changes of configuration that were found while the application ran"),
    POLICY_SOURCE_ERRORS("ratelimit.policy.source.errors", "Look-ups of overridden limits that came to nothing");

    private final String label;
    private final String description;

    Metric(String label, String description) {
        this.label = label;
        this.description = description;
    }

    String label() {
        return label;
    }

    String description() {
        return description;
    }
}
