// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.spi.BlocksKeys;
import java.time.Duration;
import java.time.Instant;

/** The blocks of keys that changes make and end. Other changes have no effect here. */
final class ChangedBlocks {
    private final ChangeTarget target;
    private final ChangeAudit audit;

    ChangedBlocks(ChangeTarget target, ChangeAudit audit) {
        this.target = target;
        this.audit = audit;
    }

    /**
     * Blocks the key of a change from the current time of the store. It ends a longer block of the key first, because the earlier end of a
     * shorter one has no effect. Throws a {@link RateLimitUnavailableException}, which the audit log has, if the backend does not answer.
     */
    void make(RuntimeChange change, Instant from, ChangeState before) {
        if (change.subject().kind() == Kind.BLOCK) {
            block(change, from, isShorter(change, before));
        }
    }

    /** Blocks the key again after {@link #end}. */
    void restore(RuntimeChange change, Instant from) {
        if (change.subject().kind() == Kind.BLOCK) {
            block(change, from, false);
        }
    }

    /** Ends the block of a change. */
    void end(RuntimeChange change) {
        if (change.subject().kind() == Kind.BLOCK) {
            target.unblock(
                    change.subject().policy(), change.subject().storedKey().orElse(""));
        }
    }

    private static boolean isShorter(RuntimeChange change, ChangeState before) {
        return before.current(change.at()).stream()
                .filter(earlier -> earlier.subject().equals(change.subject()))
                .flatMap(earlier -> earlier.until().stream())
                .anyMatch(end -> change.until().filter(end::isAfter).isPresent());
    }

    private void block(RuntimeChange change, Instant from, boolean shorter) {
        Duration length = Duration.between(from, change.until().orElse(from.plus(BlocksKeys.MAX_BLOCK)));
        try {
            if (shorter) {
                end(change);
            }
            target.block(change.subject().policy(), change.subject().storedKey().orElse(""), length);
        } catch (RateLimitUnavailableException e) {
            audit.notBlocked(change, e.reason());
            throw e;
        }
    }
}
