// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.outgoing;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The limits of the upstream, as the header fields of one response report them.
 *
 * @param retryAfterSeconds the value of {@code Retry-After}, from 0 to {@link UpstreamTime#MAX_SECONDS}; empty if there is no valid one
 * @param quotas the quotas, of the first dialect that the response has
 * @param malformed the fields with a value that has another form, with the beginning of the value
 */
record UpstreamAnswer(OptionalLong retryAfterSeconds, List<UpstreamQuota> quotas, Map<String, String> malformed) {
    /** The length of a field value; a longer one is malformed. */
    static final int LONGEST_FIELD = 4_096;

    private static final int SHOWN = 80;
    private static final String RETRY_AFTER = "Retry-After";
    private static final String RATE_LIMIT = "RateLimit";
    private static final String RATE_LIMIT_POLICY = "RateLimit-Policy";

    /** The parameters of a quota and of its policy (draft-ietf-httpapi-ratelimit-headers-11). */
    private static final String REMAINING = "r";

    private static final String RESET = "t";
    private static final String WINDOW = "w";

    /** The beginnings of the names of fields with one number each, in order: the draft -06, and the older ones. */
    private static final List<String> NUMBER_DIALECTS = List.of("RateLimit-", "X-RateLimit-", "X-Rate-Limit-");

    /** Copies the collections. */
    UpstreamAnswer {
        quotas = List.copyOf(quotas);
        malformed = Map.copyOf(malformed);
    }

    /**
     * Reads the fields of a response.
     *
     * @param fields returns the lines of a field by its name, in any case; empty or null if the response does not have it
     * @param clock the current time, which is used if the response has no {@code Date}
     */
    static UpstreamAnswer read(Function<String, List<String>> fields, Instant clock) {
        Map<String, String> malformed = new TreeMap<>();
        Reader reader = new Reader(fields, malformed);
        Instant now = reader.date().orElse(clock);
        return new UpstreamAnswer(reader.retryAfter(now), reader.quotas(now), malformed);
    }

    /** A reader of the fields of one response. */
    private record Reader(Function<String, List<String>> fields, Map<String, String> malformed) {
        /** Returns the lines of a field. A field that is too long is malformed and counts as absent. */
        private List<String> lines(String name) {
            List<String> lines = fields.apply(name);
            if (lines == null) {
                return List.of();
            }
            List<String> known = lines.stream()
                    .map(line -> line == null ? "" : line)
                    .limit(StructuredFields.MAX_MEMBERS)
                    .toList();
            if (known.stream().mapToLong(String::length).sum() > LONGEST_FIELD) {
                isMalformed(name, known);
                return List.of();
            }
            return known;
        }

        private void isMalformed(String name, List<String> lines) {
            String text = String.join(", ", lines);
            malformed.put(name, text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text);
        }

        Optional<Instant> date() {
            List<String> lines = lines("Date");
            return lines.size() == 1 ? UpstreamTime.date(lines.get(0)) : Optional.empty();
        }

        /** Returns the longest valid value if there are several. */
        OptionalLong retryAfter(Instant now) {
            List<String> lines = lines(RETRY_AFTER);
            OptionalLong longest = OptionalLong.empty();
            for (String line : lines) {
                OptionalLong seconds = UpstreamTime.retryAfter(line, now);
                if (seconds.isEmpty() || lines.size() > 1) {
                    isMalformed(RETRY_AFTER, lines);
                }
                if (seconds.isPresent() && seconds.getAsLong() >= longest.orElse(0)) {
                    longest = seconds;
                }
            }
            return longest;
        }

        List<UpstreamQuota> quotas(Instant now) {
            List<UpstreamQuota> quotas = structured();
            for (String dialect : NUMBER_DIALECTS) {
                if (quotas.isEmpty()) {
                    quotas = number(dialect, now);
                }
            }
            return quotas;
        }

        private List<UpstreamQuota> structured() {
            Map<String, Long> windows = items(RATE_LIMIT_POLICY).stream()
                    .filter(item -> item.integers().containsKey(WINDOW))
                    .collect(Collectors.toMap(
                            StructuredFields.Item::name, item -> item.integers().get(WINDOW), Math::max));
            List<UpstreamQuota> quotas = new ArrayList<>();
            for (StructuredFields.Item item : items(RATE_LIMIT)) {
                Long remaining = item.integers().get(REMAINING);
                Long reset = item.integers().getOrDefault(RESET, windows.getOrDefault(item.name(), 0L));
                if (remaining == null || remaining < 0 || reset < 0) {
                    isMalformed(RATE_LIMIT, lines(RATE_LIMIT));
                } else {
                    quotas.add(new UpstreamQuota(remaining, Math.min(UpstreamTime.MAX_SECONDS, reset)));
                }
            }
            return quotas;
        }

        private List<StructuredFields.Item> items(String name) {
            List<String> lines = lines(name);
            Optional<List<StructuredFields.Item>> items = StructuredFields.list(String.join(", ", lines));
            if (items.isEmpty()) {
                isMalformed(name, lines);
            }
            return items.orElse(List.of());
        }

        private List<UpstreamQuota> number(String dialect, Instant now) {
            OptionalLong remaining = only(dialect + "Remaining", UpstreamTime::number);
            OptionalLong reset = only(dialect + "Reset", text -> UpstreamTime.secondsUntil(text, now));
            return remaining.isPresent() && reset.isPresent()
                    ? List.of(new UpstreamQuota(remaining.getAsLong(), reset.getAsLong()))
                    : List.of();
        }

        /** Reads a field with one number. Several different lines contradict each other. */
        private OptionalLong only(String name, Function<String, OptionalLong> parser) {
            Set<String> lines = new LinkedHashSet<>(lines(name));
            if (lines.isEmpty()) {
                return OptionalLong.empty();
            }
            OptionalLong number =
                    lines.size() == 1 ? parser.apply(lines.iterator().next()) : OptionalLong.empty();
            if (number.isEmpty()) {
                isMalformed(name, List.copyOf(lines));
            }
            return number;
        }
    }
}
