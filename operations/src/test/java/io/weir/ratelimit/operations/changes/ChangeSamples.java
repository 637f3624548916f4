// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/** Changes for tests. */
final class ChangeSamples {
    static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final String[] ATTRIBUTES = {"limit", "mode", "on-failure", "burst"};

    private ChangeSamples() {}

    static RuntimeChange policy(long number, String policy, String... values) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < values.length; i += 2) {
            map.put(values[i], values[i + 1]);
        }
        return change(number, new Subject(Kind.POLICY, policy, Optional.empty()), map);
    }

    static RuntimeChange ofKey(long number, Kind kind, String key, String limit) {
        return change(
                number,
                new Subject(kind, "api", Optional.of(key)),
                limit.isEmpty() ? Map.of() : Map.of("limit", limit));
    }

    static RuntimeChange undo(long number, RuntimeChange undone) {
        return new RuntimeChange(
                number,
                undone.subject(),
                Map.of(),
                undone.values(),
                "bob",
                "undo",
                START.plusSeconds(number),
                Optional.empty(),
                OptionalLong.of(undone.number()));
    }

    static RuntimeChange until(RuntimeChange change, Duration length) {
        return new RuntimeChange(
                change.number(),
                change.subject(),
                change.values(),
                change.before(),
                change.author(),
                change.reason(),
                change.at(),
                Optional.of(change.at().plus(length)),
                change.undoes());
    }

    static RuntimeChange at(RuntimeChange change, Instant at) {
        return new RuntimeChange(
                change.number(),
                change.subject(),
                change.values(),
                change.before(),
                change.author(),
                change.reason(),
                at,
                change.until(),
                change.undoes());
    }

    private static RuntimeChange change(long number, Subject subject, Map<String, String> values) {
        return new RuntimeChange(
                number,
                subject,
                values,
                Map.of("limit", "100/1m"),
                "alice",
                "too many calls",
                START.plusSeconds(number),
                Optional.empty(),
                OptionalLong.empty());
    }

    static RuntimeChange random(long number, Random random) {
        RuntimeChange change = random.nextBoolean()
                ? policy(number, "p" + random.nextInt(5), ATTRIBUTES[random.nextInt(4)], "é" + random.nextInt(1_000))
                : ofKey(
                        number,
                        random.nextBoolean() ? Kind.OVERRIDE : Kind.BLOCK,
                        "a.~k" + random.nextInt(9),
                        random.nextInt(1_000) + "/1s");
        return random.nextInt(3) == 0 ? until(change, Duration.ofSeconds(random.nextInt(100) + 1)) : change;
    }
}
