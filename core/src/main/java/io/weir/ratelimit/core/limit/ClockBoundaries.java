// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * The boundaries of minutes and hours: the instants at which the clock of a zone shows a multiple of the length in seconds, or skips one.
 */
record ClockBoundaries(ZoneRules rules, long length) implements CalendarBoundaries {
    @Override
    public long latest(long epochSecond) {
        long until = epochSecond;
        ZoneOffsetTransition change = lastChange(until);
        long boundary = aligned(until);
        while (change != null && boundary < change.toEpochSecond()) {
            if (isBoundary(change)) {
                return change.toEpochSecond();
            }
            until = change.toEpochSecond() - 1;
            boundary = aligned(until);
            change = lastChange(until);
        }
        return boundary;
    }

    @Override
    public long after(long epochSecond) {
        long from = epochSecond;
        ZoneOffsetTransition change = nextChange(from);
        long boundary = aligned(from) + length;
        while (change != null && boundary >= change.toEpochSecond()) {
            if (isBoundary(change)) {
                return change.toEpochSecond();
            }
            from = change.toEpochSecond();
            boundary = aligned(from) + length;
            change = nextChange(from);
        }
        return boundary;
    }

    /** Returns the latest multiple of the length that the clock has shown at an instant, as if the offset had never changed. */
    private long aligned(long epochSecond) {
        long offset = rules.getOffset(Instant.ofEpochSecond(epochSecond)).getTotalSeconds();
        return Math.floorDiv(epochSecond + offset, length) * length - offset;
    }

    /** Returns whether the clock shows a multiple of the length at a change of the offset, or skips one. */
    private boolean isBoundary(ZoneOffsetTransition change) {
        long before = change.toEpochSecond() + change.getOffsetBefore().getTotalSeconds();
        long after = change.toEpochSecond() + change.getOffsetAfter().getTotalSeconds();
        return Math.floorMod(after, length) == 0 || Math.floorDiv(after, length) > Math.floorDiv(before - 1, length);
    }

    /** Returns the latest change of the offset that is not after an instant. */
    private @Nullable ZoneOffsetTransition lastChange(long epochSecond) {
        return rules.previousTransition(Instant.ofEpochSecond(epochSecond + 1));
    }

    private @Nullable ZoneOffsetTransition nextChange(long epochSecond) {
        return rules.nextTransition(Instant.ofEpochSecond(epochSecond));
    }
}
