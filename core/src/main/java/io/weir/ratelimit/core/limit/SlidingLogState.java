// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;

/**
 * The state of a sliding log: the instant at which each permit was spent, to the microsecond. A permit counts for one window from
 * that instant, so no rolling window contains more permits than the limit. Calls of one microsecond share one entry. If the limit
 * is lowered, permits above it count until their window has passed. A value-based class.
 *
 * <p>The log has at most as many entries as permits that count. All entries except the newest are in an array that consecutive
 * states share. So spending copies nothing, as long as no two states are made from the same state.
 */
public final class SlidingLogState implements LimitState {
    static final SlidingLogState EMPTY = new SlidingLogState(LogEntries.NONE, 0, 0, 0, 0);

    /** The entries before the newest one. Those from {@code from} (inclusive) to {@code to} (exclusive) count. */
    private final LogEntries older;

    private final int from;
    private final int to;
    private final long newestMicros;

    /** The permits spent up to and including the newest entry, on the same scale as the totals in {@link #older}. */
    private final int total;

    private SlidingLogState(LogEntries older, int from, int to, long newestMicros, int total) {
        this.older = older;
        this.from = from;
        this.to = to;
        this.newestMicros = newestMicros;
        this.total = total;
    }

    /**
     * Creates a log of at most three entries that summarizes a longer log, which a backend keeps. For two costs it has the same
     * room, remaining permits, retry-after and reset-after as that log: for the rejected cost that {@code need} describes, and for
     * the least cost without room. The same holds after more permits are spent now. All instants must be within the window and not
     * in the future.
     *
     * @param spent the permits that count, 0 to {@link Limit#MAX_LOG_PERMITS}
     * @param growsFromMicros the instant of the entry whose end increases the remaining permits: the oldest entry, or under a
     *     lowered limit the entry that contains the permit {@code spent + 1 − permits}, counted from the oldest; 0 if none counts
     * @param newestMicros the instant of the newest entry; 0 if none counts
     * @param need the number of oldest permits that must end before a rejected cost has room, {@code spent + cost − permits}; 0 or
     *     less if no cost was rejected, more than {@code spent} if no wait helps
     * @param needFromMicros the instant of the entry that contains the last of them; any number if there is none
     * @throws IllegalArgumentException if a log cannot count so many permits
     */
    public static SlidingLogState summary(
            Limit limit, long spent, long growsFromMicros, long newestMicros, long need, long needFromMicros) {
        if (spent < 0 || spent > Limit.MAX_LOG_PERMITS) {
            throw new IllegalArgumentException("a log counts 0 to " + Limit.MAX_LOG_PERMITS + " permits, not " + spent);
        }
        if (spent == 0) {
            return EMPTY;
        }
        LogEntries entries = new LogEntries(2);
        long grows = Math.max(1, spent + 1 - limit.permits());
        boolean waits = need > 0 && need < spent && needFromMicros < newestMicros;
        if (grows < spent && growsFromMicros < newestMicros && !(waits && growsFromMicros == needFromMicros)) {
            entries.append(0, growsFromMicros, (int) grows);
        }
        if (waits) {
            entries.append(entries.size(), needFromMicros, (int) need);
        }
        return new SlidingLogState(entries, 0, entries.size(), newestMicros, (int) spent);
    }

    /** Returns the permits that count, 0 to {@link Limit#MAX_LOG_PERMITS}. */
    public long spent() {
        return (long) total - older.totalBefore(from);
    }

    /**
     * Returns the instant at which permits were last spent, 0 if no permit counts. In the state right after a charge, it is the instant of
     * the charge.
     */
    public long newestMicros() {
        return newestMicros;
    }

    @Override
    public SlidingLogState asOf(Limit limit, long nowMicros) {
        long passed = nowMicros - limit.windowMicros();
        if (spent() == 0 || newestMicros <= passed) {
            return EMPTY;
        }
        int end = newestMicros <= nowMicros ? to : LogEntries.firstIndex(from, to, i -> older.timeAt(i) >= nowMicros);
        int begin = LogEntries.firstIndex(from, end, i -> older.timeAt(i) > passed);
        return begin == from && newestMicros <= nowMicros
                ? this
                : new SlidingLogState(older, begin, end, Math.min(newestMicros, nowMicros), total);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return spent() > 0 && newestMicros > nowMicros;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return cost <= limit.permits() - spent();
    }

    @Override
    public SlidingLogState spend(Limit limit, long cost, long nowMicros) {
        int more = (int) cost;
        if (spent() == 0) {
            return new SlidingLogState(LogEntries.NONE, 0, 0, nowMicros, more);
        }
        if (newestMicros == nowMicros) {
            return new SlidingLogState(older, from, to, nowMicros, total + more);
        }
        if (older.append(to, newestMicros, total)) {
            return new SlidingLogState(older, from, to + 1, nowMicros, total + more);
        }
        LogEntries copy = older.copy(from, to, to, 0);
        copy.append(to - from, newestMicros, (int) spent());
        return new SlidingLogState(copy, 0, to - from + 1, nowMicros, (int) spent() + more);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.permits() - spent());
    }

    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.permits()) {
            return Micros.NEVER;
        }
        if (hasRoom(limit, cost, nowMicros)) {
            return 0;
        }
        long ended = older.totalBefore(from) + spent() + cost - limit.permits();
        int last = LogEntries.firstIndex(from, to, i -> older.totalAt(i) >= ended);
        return (last < to ? older.timeAt(last) : newestMicros) + limit.windowMicros() - nowMicros;
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return spent() == 0 ? 0 : newestMicros + limit.windowMicros() - nowMicros;
    }

    @Override
    public SlidingLogState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (!(charged instanceof SlidingLogState then)
                || then.spent() == 0
                || spent() == 0
                || nowMicros - then.newestMicros >= limit.windowMicros()) {
            return this;
        }
        long instant = then.newestMicros;
        if (instant == newestMicros) {
            return truncated(Math.max(total - cost, older.totalBefore(to)));
        }
        int index = LogEntries.firstIndex(from, to, i -> older.timeAt(i) >= instant);
        if (index == to || older.timeAt(index) != instant) {
            return this;
        }
        int reduction = (int) Math.min(cost, older.totalAt(index) - older.totalBefore(index));
        LogEntries copy = older.copy(from, to, index, reduction);
        return new SlidingLogState(copy, 0, copy.size(), newestMicros, (int) spent() - reduction);
    }

    @Override
    public SlidingLogState refund(Limit limit, long cost) {
        return truncated(total - cost);
    }

    @Override
    public SlidingLogState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        if (!(charged instanceof SlidingLogState then)
                || then.spent() == 0
                || spent() == 0
                || nowMicros - then.newestMicros >= limit.windowMicros()) {
            return this;
        }
        long live = asOf(limit, nowMicros).spent();
        int increase = (int) (LimitState.raised(limit, live, more) - live);
        if (then.newestMicros == newestMicros) {
            return new SlidingLogState(older, from, to, newestMicros, total + increase);
        }
        int index = LogEntries.firstIndex(from, to, i -> older.timeAt(i) >= then.newestMicros);
        if (increase == 0 || index == to || older.timeAt(index) != then.newestMicros) {
            return this;
        }
        LogEntries copy = older.copy(from, to, index, -increase);
        return new SlidingLogState(copy, 0, copy.size(), newestMicros, (int) spent() + increase);
    }

    /** Returns this log without the permits that were spent after the total reached a value. */
    private SlidingLogState truncated(long newTotal) {
        if (newTotal <= older.totalBefore(from)) {
            return EMPTY;
        }
        if (newTotal > older.totalBefore(to)) {
            return new SlidingLogState(older, from, to, newestMicros, (int) newTotal);
        }
        int last = LogEntries.firstIndex(from, to, i -> older.totalAt(i) >= newTotal);
        return new SlidingLogState(older, from, last, older.timeAt(last), (int) newTotal);
    }

    LogEntries older() {
        return older;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof SlidingLogState that)
                || newestMicros != that.newestMicros
                || spent() != that.spent()
                || to - from != that.to - that.from) {
            return false;
        }
        int base = older.totalBefore(from);
        int thatBase = that.older.totalBefore(that.from);
        for (int i = from, j = that.from; i < to; i++, j++) {
            if (older.timeAt(i) != that.older.timeAt(j)
                    || older.totalAt(i) - base != that.older.totalAt(j) - thatBase) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(newestMicros) + Long.hashCode(spent());
    }

    /** Returns each entry as time and cost, oldest first. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("SlidingLogState[");
        for (int i = from; i < to; i++) {
            text.append(older.timeAt(i))
                    .append(": ")
                    .append(older.totalAt(i) - older.totalBefore(i))
                    .append(", ");
        }
        return spent() == 0
                ? "SlidingLogState[]"
                : text.append(newestMicros)
                        .append(": ")
                        .append(total - older.totalBefore(to))
                        .append(']')
                        .toString();
    }
}
