// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.client.outgoing.UpstreamAnswer.Malformed;
import io.weir.ratelimit.client.outgoing.UpstreamNumber.Form;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A reader of the header fields of one response, which collects those that are not of a standard form. Instants count from the current time
 * of the upstream, and durations from the seconds that caches have stored the response.
 */
record UpstreamFields(Function<String, List<String>> fields, Map<String, Malformed> malformed, Instant now, long age) {
    /** The length of a field value; a longer one is malformed. */
    static final int LONGEST_FIELD = 32_768;

    private static final int SHOWN = 80;
    private static final String AGE = "Age";
    private static final String RETRY_AFTER = "Retry-After";

    /** The fields for {@code Retry-After} in milliseconds, which no standard has. */
    private static final List<String> RETRY_AFTER_MILLIS = List.of("Retry-After-Ms", "X-Ms-Retry-After-Ms");

    private static final String RATE_LIMIT = "RateLimit";
    private static final String RATE_LIMIT_POLICY = "RateLimit-Policy";

    /** The parameters of a quota and of its policy (draft-ietf-httpapi-ratelimit-headers-11). */
    private static final String REMAINING = "r";

    private static final String RESET = "t";
    private static final String WINDOW = "w";
    private static final String UNIT = "qu";

    /** The unit of a quota that counts calls. */
    private static final String REQUESTS = "requests";

    /** The unit of a limit on running calls, whose end no time announces. */
    private static final String CONCURRENT_REQUESTS = "concurrent-requests";

    /** The fields with one number each, in order: those of the draft -06, the older ones, and those of language models. */
    private static final List<Dialect> DIALECTS = List.of(
            new Dialect("RateLimit-Remaining", "RateLimit-Reset"),
            new Dialect("X-RateLimit-Remaining", "X-RateLimit-Reset"),
            new Dialect("X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
            new Dialect("X-RateLimit-Remaining-Requests", "X-RateLimit-Reset-Requests"),
            new Dialect("Anthropic-RateLimit-Requests-Remaining", "Anthropic-RateLimit-Requests-Reset"));

    /** The fields of quotas of model tokens: like a quota with another unit, only one that is used up has an effect. */
    private static final List<Dialect> MODEL_TOKENS = List.of(
            new Dialect("X-RateLimit-Remaining-Tokens", "X-RateLimit-Reset-Tokens"),
            new Dialect("Anthropic-RateLimit-Tokens-Remaining", "Anthropic-RateLimit-Tokens-Reset"),
            new Dialect("Anthropic-RateLimit-Input-Tokens-Remaining", "Anthropic-RateLimit-Input-Tokens-Reset"),
            new Dialect("Anthropic-RateLimit-Output-Tokens-Remaining", "Anthropic-RateLimit-Output-Tokens-Reset"));

    /** The names of the two fields of a quota. */
    private record Dialect(String remaining, String reset) {}

    /** Returns the time at which the upstream has sent the response, empty if it is unknown. */
    Optional<Instant> date() {
        List<String> lines = lines("Date");
        return lines.size() == 1 ? UpstreamTime.httpDate(lines.get(0)) : Optional.empty();
    }

    /** Returns the seconds that caches have stored the response, 0 if none has. */
    long storedSeconds() {
        List<String> lines = lines(AGE);
        UpstreamNumber seconds = UpstreamNumber.count(lines);
        if (!lines.isEmpty() && !seconds.isReadable()) {
            addMalformed(AGE, lines, Optional.empty());
        }
        return Math.min(UpstreamTime.MAX_SECONDS, seconds.value());
    }

    /** Returns the longest time if there are several. */
    OptionalLong retryAfter() {
        List<Long> times = new ArrayList<>();
        List<String> lines = lines(RETRY_AFTER);
        if (!lines.isEmpty()) {
            times.add(time(RETRY_AFTER, lines).value());
        }
        for (String name : RETRY_AFTER_MILLIS) {
            List<String> values = UpstreamNumber.values(lines(name));
            if (!values.isEmpty()) {
                times.add(millis(name, values));
            }
        }
        return times.stream().mapToLong(Long::longValue).max();
    }

    private long millis(String name, List<String> values) {
        List<String> units = values.stream().map(value -> value + "ms").toList();
        UpstreamNumber time = UpstreamNumber.time(units, now, age);
        if (!time.isReadable()) {
            addMalformed(name, values, Optional.of(time.value() + " s"));
        }
        return time.value();
    }

    /** Returns the quotas of the first dialect that the response has, and those of model tokens that are used up. */
    List<UpstreamQuota> quotas() {
        List<UpstreamQuota> calls = structured();
        for (Dialect dialect : DIALECTS) {
            if (calls.isEmpty()) {
                calls = numbers(dialect);
            }
        }
        List<UpstreamQuota> quotas = new ArrayList<>(calls);
        MODEL_TOKENS.forEach(dialect -> numbers(dialect).stream()
                .filter(quota -> quota.remaining() == 0)
                .forEach(quotas::add));
        return quotas;
    }

    /** Returns the lines of a field. A field that is too long or has too many lines is malformed and counts as absent. */
    private List<String> lines(String name) {
        List<String> lines = fields.apply(name);
        if (lines == null) {
            return List.of();
        }
        List<String> known = lines.stream()
                .map(line -> line == null ? "" : line)
                .limit(UpstreamNumber.MAX_VALUES + 1L)
                .toList();
        if (known.size() > UpstreamNumber.MAX_VALUES
                || known.stream().mapToLong(String::length).sum() > LONGEST_FIELD) {
            addMalformed(name, known, Optional.empty());
            return List.of();
        }
        return known;
    }

    private void addMalformed(String name, List<String> lines, Optional<String> readAs) {
        if (malformed.containsKey(name)) {
            return;
        }
        String text = String.join(", ", lines);
        String shown = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
        malformed.put(name, new Malformed(shown, readAs));
    }

    private UpstreamNumber time(String name, List<String> lines) {
        UpstreamNumber time = UpstreamNumber.time(lines, now, age);
        if (time.form() != Form.STANDARD) {
            addMalformed(name, lines, Optional.of(time.value() + " s"));
        }
        return time;
    }

    /** Returns the quotas of {@code RateLimit}. Only that of the current draft has a {@code RateLimit-Policy} of a structured field. */
    private List<UpstreamQuota> structured() {
        Optional<StructuredFields.Item> dictionary = dictionary();
        if (dictionary.isPresent()) {
            return quota(dictionary.get(), Optional.empty()).stream().toList();
        }
        List<StructuredFields.Item> items = items(RATE_LIMIT);
        if (items.isEmpty()) {
            return List.of();
        }
        Map<String, StructuredFields.Item> policies = items(RATE_LIMIT_POLICY).stream()
                .collect(Collectors.toMap(StructuredFields.Item::name, policy -> policy, UpstreamFields::longer));
        List<UpstreamQuota> quotas = new ArrayList<>();
        for (StructuredFields.Item item : items) {
            quota(item, Optional.ofNullable(policies.get(item.name()))).ifPresent(quotas::add);
        }
        return quotas;
    }

    /** Returns the quota of a field of the draft 07, empty if the field is of another draft. */
    private Optional<StructuredFields.Item> dictionary() {
        return StructuredFields.dictionary(String.join(", ", lines(RATE_LIMIT)))
                .filter(members -> members.containsKey("remaining") && members.containsKey("reset"))
                .map(members -> new StructuredFields.Item(
                        RATE_LIMIT, Map.of(REMAINING, members.get("remaining"), RESET, members.get("reset"))));
    }

    private List<StructuredFields.Item> items(String name) {
        List<String> lines = lines(name);
        Optional<List<StructuredFields.Item>> items = StructuredFields.list(String.join(", ", lines))
                .filter(list -> list.size() <= UpstreamNumber.MAX_VALUES);
        if (items.isEmpty()) {
            addMalformed(name, lines, Optional.empty());
        }
        return items.orElse(List.of());
    }

    private static StructuredFields.Item longer(StructuredFields.Item one, StructuredFields.Item other) {
        return window(Optional.of(one)).value() >= window(Optional.of(other)).value() ? one : other;
    }

    private static UpstreamNumber window(Optional<StructuredFields.Item> policy) {
        List<String> windows = policy.map(known -> parameter(known, WINDOW)).orElse(List.of());
        return UpstreamNumber.time(windows, Instant.EPOCH, 0);
    }

    private static List<String> parameter(StructuredFields.Item item, String key) {
        return Optional.ofNullable(item.parameters().get(key)).stream().toList();
    }

    /** Returns the quota of an item. Without a reset, the window of the policy applies. */
    private Optional<UpstreamQuota> quota(StructuredFields.Item item, Optional<StructuredFields.Item> policy) {
        UpstreamNumber remaining = UpstreamNumber.count(parameter(item, REMAINING));
        List<String> resets = parameter(item, RESET);
        UpstreamNumber reset = UpstreamNumber.time(resets, now, age);
        if (!remaining.isReadable()) {
            addMalformed(RATE_LIMIT, lines(RATE_LIMIT), Optional.empty());
            return Optional.empty();
        }
        if (remaining.form() != Form.STANDARD || reset.form() != Form.STANDARD) {
            Optional<String> readAs = Optional.of("r=" + remaining.value() + ";t=" + reset.value());
            addMalformed(RATE_LIMIT, lines(RATE_LIMIT), readAs);
        }
        UpstreamNumber window = window(policy);
        UpstreamNumber end = resets.isEmpty() ? window : reset;
        long seconds = end.isReadable() ? end.value() : Math.max(window.value(), end.value());
        String unit = policy.map(known -> known.parameters().get(UNIT)).orElse(REQUESTS);
        return remaining.value() > 0
                ? counted(remaining, new UpstreamNumber(seconds, end.form())).filter(quota -> unit.equals(REQUESTS))
                : Optional.of(new UpstreamQuota(0, seconds)).filter(quota -> !unit.equals(CONCURRENT_REQUESTS));
    }

    /** Returns the quotas of fields with numbers. If both fields have as many, a count belongs to the reset at its position. */
    private List<UpstreamQuota> numbers(Dialect dialect) {
        String name = dialect.remaining;
        List<String> lines = lines(name);
        List<String> counts = UpstreamNumber.values(lines);
        List<String> resets = lines(dialect.reset);
        if (resets.isEmpty() && lines.isEmpty()) {
            return List.of();
        }
        UpstreamNumber longest = time(dialect.reset, resets.stream().distinct().toList());
        List<String> times = UpstreamNumber.values(resets);
        boolean pairs =
                counts.size() > 1 && counts.size() <= UpstreamNumber.MAX_VALUES && counts.size() == times.size();
        List<UpstreamQuota> quotas = new ArrayList<>();
        for (int i = 0; i < (pairs ? counts.size() : 1); i++) {
            UpstreamNumber remaining = UpstreamNumber.count(pairs ? List.of(counts.get(i)) : lines);
            if (!lines.isEmpty() && (pairs || remaining.form() != Form.STANDARD)) {
                Optional<String> readAs = Optional.of(pairs ? "several" : Long.toString(remaining.value()));
                addMalformed(name, lines, readAs.filter(count -> remaining.isReadable()));
            }
            UpstreamNumber reset = pairs ? UpstreamNumber.time(List.of(times.get(i)), now, age) : longest;
            if (remaining.isReadable() && !resets.isEmpty()) {
                counted(remaining, reset).ifPresent(quotas::add);
            }
        }
        return quotas;
    }

    /** Returns a quota of calls. With an unreadable reset, only a quota without remaining calls has an effect. */
    private static Optional<UpstreamQuota> counted(UpstreamNumber remaining, UpstreamNumber reset) {
        return remaining.value() == 0 || reset.isReadable()
                ? Optional.of(new UpstreamQuota(remaining.value(), reset.value()))
                : Optional.empty();
    }
}
