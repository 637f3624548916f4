// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A change that a request describes. An invalid request is an {@link IllegalArgumentException}. Its values can still be invalid. The masked
 * key is empty for a change of a policy, and the length is empty without an end.
 */
record PostedChange(Subject subject, Optional<String> key, Map<String, String> values, Optional<Duration> length) {
    /** The greatest number of characters of a name in a message. */
    private static final int LONGEST_NAME = 40;

    /** Reads a request, whose other fields do not describe the change. */
    static PostedChange of(
            Map<String, Object> fields, Set<String> otherFields, Operations operations, Supplier<FleetCallers> fleet) {
        Kind kind = kind(text(fields, "kind"));
        Set<String> attributes = kind.attributes();
        Set<String> known = new LinkedHashSet<>(otherFields);
        known.addAll(attributes);
        known.add("kind");
        known.add("for");
        Optional<CallerOperations.Caller> caller = Optional.empty();
        if (kind == Kind.POLICY) {
            known.add("policy");
            checkNames(fields, known);
        } else {
            caller = Optional.of(Lookup.of(fields, known).caller(operations, fleet));
        }
        Map<String, String> values = new TreeMap<>();
        attributes.stream()
                .filter(fields::containsKey)
                .forEach(name -> values.put(name, text(fields, name).strip()));
        return new PostedChange(
                new Subject(kind, text(fields, "policy"), caller.map(operations::storedKey)),
                caller.map(CallerOperations.Caller::key),
                values,
                fields.containsKey("for") ? Optional.of(length(text(fields, "for"))) : Optional.empty());
    }

    /** Returns this change as a request of an author. */
    ChangeRequest by(String author, String reason) {
        return new ChangeRequest(subject, values, length, reason, author);
    }

    /** Tests whether changes of this kind can have an attribute. */
    boolean canHave(String attribute) {
        return subject.kind().attributes().contains(attribute);
    }

    /** Returns the text of a field. */
    static String text(Map<String, Object> fields, String name) {
        if (fields.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(name + (fields.containsKey(name) ? " must be a string" : " is missing"));
    }

    /** Checks that a request has no other fields. Only its first characters are shown, because a client selects it. */
    static void checkNames(Map<String, Object> fields, Set<String> known) {
        fields.keySet().stream()
                .filter(name -> !known.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new IllegalArgumentException("the request has the unknown field "
                            + name.substring(0, Math.min(name.length(), LONGEST_NAME)));
                });
    }

    /** Returns the name of a kind in requests and responses. */
    static String nameOf(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static Kind kind(String name) {
        return Arrays.stream(Kind.values())
                .filter(kind -> nameOf(kind).equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("kind must be one of "
                        + Arrays.stream(Kind.values()).map(PostedChange::nameOf).collect(Collectors.joining(", "))));
    }

    private static Duration length(String text) {
        Duration length = ConfigReader.duration(text.strip());
        if (length.compareTo(Duration.ofSeconds(1)) < 0 || length.compareTo(ChangeRequest.LONGEST) > 0) {
            throw new IllegalArgumentException("for must be from 1s to 366d");
        }
        return length;
    }
}
