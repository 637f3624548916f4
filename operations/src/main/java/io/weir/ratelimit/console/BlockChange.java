// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.operations.Operations;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * A request to block or to unblock a caller. Its duration is empty if it ends a block. An invalid request is an
 * {@link IllegalArgumentException}.
 */
record BlockChange(Kind kind, Lookup lookup, String duration, String reason) {
    /** The greatest number of characters of a reason. */
    static final int MAX_REASON = 200;

    /** The kind of a change. */
    enum Kind {
        BLOCK,
        UNBLOCK
    }

    static BlockChange of(Map<String, Object> fields, Kind kind) {
        boolean blocks = kind == Kind.BLOCK;
        Lookup lookup = Lookup.of(fields, blocks ? Set.of("duration", "reason") : Set.of("reason"));
        String reason = lookup.text("reason").strip();
        if (reason.isEmpty()
                || reason.length() > MAX_REASON
                || !reason.codePoints().allMatch(BlockChange::isPrintable)) {
            throw new IllegalArgumentException("reason must have 1 to " + MAX_REASON + " printable characters");
        }
        return new BlockChange(kind, lookup, blocks ? lookup.text("duration").strip() : "", reason);
    }

    /** Tests for a character that cannot change how a line of a log is shown. */
    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.PRIVATE_USE,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }

    /** Makes the change. Returns the time until the end of the block; zero if the caller is not blocked any more. */
    Duration apply(Operations operations, CallerOperations.Caller caller) {
        try {
            if (kind == Kind.BLOCK) {
                return operations.block(caller, ConfigReader.duration(duration));
            }
            operations.unblock(caller);
            return Duration.ZERO;
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException("the backend cannot block keys", e);
        }
    }
}
