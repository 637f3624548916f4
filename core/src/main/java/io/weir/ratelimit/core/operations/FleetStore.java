// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A store for what instances report about themselves: one short report per instance, and a history of counts that all instances add to.
 * It serves operators. No decision depends on it.
 *
 * <p>Methods return at once. A stage completes with a {@link BackendException} if the store does not answer, or if it is not called because
 * a breaker is open. A write is never sent twice. Contents are opaque to the store, and readers do not trust them.
 */
public interface FleetStore {
    int MAX_REPORT_BYTES = 65_536;

    /** The greatest number of bytes that one step of the history contains. */
    int MAX_STEP_BYTES = 16_384;

    /** The greatest number of instances whose reports are kept. */
    int MAX_INSTANCES = 1_000;

    /** The length of a step of the history. Steps are numbered from 1970. */
    Duration STEP = Duration.ofSeconds(10);

    /** The time for which a report is kept. */
    Duration REPORT_LIFETIME = Duration.ofSeconds(75);

    /** The time for which a step of the history is kept. */
    Duration HISTORY_LIFETIME = Duration.ofMinutes(62);

    /**
     * Stores the report of an instance in place of its last one, and adds counts to steps of the history.
     *
     * <p>The counts of a step are lines {@code <decided> <rejected> <name>}, with a line feed at the end of each line. Numbers have 1 to 15
     * digits. The store adds the numbers of equal names. It leaves out names for which the step has no room.
     *
     * @param instance 1 to 32 of the characters {@code a-z 0-9}
     * @param report at most {@value #MAX_REPORT_BYTES} bytes
     * @param counts the counts by the number of the step, at most 8 steps
     */
    CompletionStage<Instant> report(String instance, byte[] report, Map<Long, byte[]> counts);

    /** Returns the reports of all instances in any order. */
    CompletionStage<List<StoredReport>> reports();

    /** Returns the counts of at most 400 steps in the order of their numbers, empty without counts. */
    CompletionStage<List<byte[]>> history(List<Long> steps);

    /**
     * A report in the store, and the time since it by the clock of the store. The content is empty if its place has a value that cannot be
     * a report.
     */
    record StoredReport(String instance, Duration age, Optional<byte[]> content) {}

    /**
     * A store in which instances record that they are live, so that each instance learns their number. A decision of the shared backend does
     * not depend on it; failure modes use the number while the backend does not decide.
     */
    interface Presence {
        /** The time for which an instance counts as live after it has recorded its presence. */
        Duration LIFETIME = Duration.ofSeconds(30);

        /** The greatest number of instances that are counted. */
        int MAX_INSTANCES = FleetStore.MAX_INSTANCES;

        /**
         * Records that an instance is live, without waiting. The stage completes with a {@link BackendException} if the store does not
         * answer, or if it is not called because a breaker is open.
         *
         * @param instance 1 to 32 of the characters {@code a-z 0-9}
         * @return the number of live instances including this one, 1 to {@value #MAX_INSTANCES}
         */
        CompletionStage<Integer> present(String instance);
    }
}
