// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The limits of the upstream, as the header fields of one response report them.
 *
 * @param retryAfterSeconds the rest of the wait of {@code Retry-After}, from 0 to {@link UpstreamTime#MAX_SECONDS}; empty without the field
 * @param quotas the quotas, of the first dialect that the response has; none if the response is stored
 * @param stored whether a cache has stored the response, which then reports the past
 * @param malformed the fields with a value in another form than that of a standard
 */
record UpstreamAnswer(
        OptionalLong retryAfterSeconds, List<UpstreamQuota> quotas, boolean stored, Map<String, Malformed> malformed) {
    /** The age from which on a {@code Date} is that of a stored response, and not that of a clock which is behind. */
    static final Duration CLOCK_DIFFERENCE = Duration.ofMinutes(5);

    /** Copies the collections. */
    UpstreamAnswer {
        quotas = List.copyOf(quotas);
        malformed = Map.copyOf(malformed);
    }

    /** A field in another form than that of a standard, with the beginning of its value and, unless it is ignored, how it counts. */
    record Malformed(String value, Optional<String> readAs) {}

    /**
     * Reads the fields of a response, whose lines are empty or null if it does not have them. The clock is used if the response has no
     * {@code Date}, or an old one.
     */
    static UpstreamAnswer read(Function<String, List<String>> fields, Instant clock) {
        Map<String, Malformed> malformed = new TreeMap<>();
        UpstreamFields undated = new UpstreamFields(fields, malformed, clock, 0);
        long age = undated.storedSeconds();
        Instant date = undated.date().map(sent -> sent.plusSeconds(age)).orElse(clock);
        boolean old = date.isBefore(clock.minus(CLOCK_DIFFERENCE));
        UpstreamFields dated = new UpstreamFields(fields, malformed, old ? clock : date, age);
        return new UpstreamAnswer(dated.retryAfter(), age > 0 ? List.of() : dated.quotas(), age > 0, malformed);
    }

    /** Tests whether a field is ignored because it cannot be read. */
    boolean hasIgnoredField() {
        return malformed.values().stream().anyMatch(field -> field.readAs().isEmpty());
    }
}
