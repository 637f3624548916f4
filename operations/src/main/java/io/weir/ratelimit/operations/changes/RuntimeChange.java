// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * A change that an operator, a user of the container, has made.
 *
 * @param number the number of the change, from 1; greater than those of all earlier changes
 * @param values the new values by attribute, such as {@code limit=50/1m}; empty for a block and for an undo
 * @param before the values before the change by attribute, as text; an attribute without a value before is absent
 * @param until the end of the change; empty if it has none
 * @param undoes the number of the change that this one ends, or of the undo after which it repeats a change
 */
public record RuntimeChange(
        long number,
        Subject subject,
        Map<String, String> values,
        Map<String, String> before,
        String author,
        String reason,
        Instant at,
        Optional<Instant> until,
        OptionalLong undoes) {
    /** Copies the maps, in the order of the attributes. */
    public RuntimeChange {
        values = Collections.unmodifiableMap(new TreeMap<>(values));
        before = Collections.unmodifiableMap(new TreeMap<>(before));
    }

    /** The kinds of changes. */
    public enum Kind {
        /** Other values of a policy. Its other attributes decide which keys exist, and need a deployment. */
        POLICY,
        /** Limits for one key in place of those of the policy. */
        OVERRIDE,
        /** A block of one key. */
        BLOCK;

        /** Returns the attributes that a change of this kind can set; none for a block. */
        public Set<String> attributes() {
            return switch (this) {
                case POLICY -> Set.of("limit", "burst", "concurrency", "mode", "on-failure", "enforce-percent");
                case OVERRIDE -> Set.of("limit", "burst", "concurrency");
                case BLOCK -> Set.of();
            };
        }
    }

    /** The subject of a change; its stored key is empty for a change of a policy. */
    public record Subject(Kind kind, String policy, Optional<String> storedKey) {}

    /** Returns this change with another number. */
    RuntimeChange withNumber(long other) {
        return new RuntimeChange(other, subject, values, before, author, reason, at, until, undoes);
    }

    /** Tests whether the change only ends another one, and neither gives values nor blocks a key. */
    public boolean isUndo() {
        return undoes.isPresent() && until.isEmpty() && values.isEmpty();
    }

    /** Tests whether the change has ended at a time of the store. */
    public boolean isEnded(Instant now) {
        return until.isPresent() && !now.isBefore(until.get());
    }
}
