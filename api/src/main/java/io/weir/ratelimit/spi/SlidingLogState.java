// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;

/**
 * The sliding log: when each permit was spent, to the microsecond. A permit counts until the window has passed since, so no span
 * as long as a window ever has more than the limit. What is spent in one microsecond is one entry. What exceeds a lowered limit
 * counts as it is, and is gone a window after it was spent. A value-based class.
 *
 * <p>At most as many entries as permits count. All but the newest are in an array that states which follow each other share,
 * so that spending copies nothing, as long as each is spent from once.
 */
public final class SlidingLogState implements LimitState {
    static final SlidingLogState EMPTY = new SlidingLogState(LogEntries.NONE, 0, 0, 0, 0);

    /** What was spent before the newest entry: those from {@code from} up to {@code to} count. */
    private final LogEntries older;

    private final int from;
    private final int to;
    private final long newestMicros;

    /** Permits spent up to and with the newest entry, counted as {@link #older} counts. */
    private final int total;

    private SlidingLogState(LogEntries older, int from, int to, long newestMicros, int total) {
        this.older = older;
        this.from = from;
        this.to = to;
        this.newestMicros = newestMicros;
        this.total = total;
    }

    /**
     * A log of at most three entries that stands for a longer one which is kept elsewhere. It fits, remains, waits and resets as
     * that one does: with the cost that {@code need} is about, with the least cost that does not fit, and also after more is
     * spent now. Its times must count under the limit, and none may be later than now.
     *
     * @param limit the limit
     * @param live permits that count, 0 to {@link Limit#MAX_LOG_PERMITS}
     * @param growsFromMicros the entry with whose end more remains: the oldest, or under a lowered limit the one with which
     *     {@code live + 1 − permits} of the oldest permits have gone; 0 if nothing counts
     * @param newestMicros the newest entry; 0 if nothing counts
     * @param need how many of the oldest permits must go before a refused cost fits, {@code live + cost − permits}; 0 or less
     *     if none was refused, more than {@code live} if no wait helps
     * @param needFromMicros the entry with whose end they have gone; any number if there is none
     * @return the state
     * @throws IllegalArgumentException if no log can count so many permits
     */
    public static SlidingLogState digest(
            Limit limit, long live, long growsFromMicros, long newestMicros, long need, long needFromMicros) {
        if (live < 0 || live > Limit.MAX_LOG_PERMITS) {
            throw new IllegalArgumentException("a log counts 0 to " + Limit.MAX_LOG_PERMITS + " permits, not " + live);
        }
        if (live == 0) {
            return EMPTY;
        }
        LogEntries marks = new LogEntries(2);
        long grows = Math.max(1, live + 1 - limit.permits());
        boolean waits = need > 0 && need < live && needFromMicros < newestMicros;
        if (grows < live && growsFromMicros < newestMicros && !(waits && growsFromMicros == needFromMicros)) {
            marks.put(0, growsFromMicros, (int) grows);
        }
        if (waits) {
            marks.put(marks.size(), needFromMicros, (int) need);
        }
        return new SlidingLogState(marks, 0, marks.size(), newestMicros, (int) live);
    }

    /**
     * Permits that count.
     *
     * @return 0 to {@link Limit#MAX_LOG_PERMITS}
     */
    public long live() {
        return (long) total - older.totalBefore(from);
    }

    /**
     * When permits were spent last; of the state right after a charge, the instant of the charge.
     *
     * @return microseconds, 0 if nothing counts
     */
    public long newestMicros() {
        return newestMicros;
    }

    @Override
    public SlidingLogState at(Limit limit, long nowMicros) {
        long passed = nowMicros - limit.windowMicros();
        if (live() == 0 || newestMicros <= passed) {
            return EMPTY;
        }
        int end = newestMicros <= nowMicros ? to : LogEntries.first(from, to, i -> older.timeAt(i) >= nowMicros);
        int begin = LogEntries.first(from, end, i -> older.timeAt(i) > passed);
        return begin == from && newestMicros <= nowMicros
                ? this
                : new SlidingLogState(older, begin, end, Math.min(newestMicros, nowMicros), total);
    }

    @Override
    public boolean isAfter(long nowMicros) {
        return live() > 0 && newestMicros > nowMicros;
    }

    @Override
    public boolean fits(Limit limit, long cost, long nowMicros) {
        return cost <= limit.permits() - live();
    }

    @Override
    public SlidingLogState spend(Limit limit, long cost, long nowMicros) {
        int more = (int) cost;
        if (live() == 0) {
            return new SlidingLogState(LogEntries.NONE, 0, 0, nowMicros, more);
        }
        if (newestMicros == nowMicros) {
            return new SlidingLogState(older, from, to, nowMicros, total + more);
        }
        if (older.put(to, newestMicros, total)) {
            return new SlidingLogState(older, from, to + 1, nowMicros, total + more);
        }
        LogEntries copy = older.copy(from, to, to, 0);
        copy.put(to - from, newestMicros, (int) live());
        return new SlidingLogState(copy, 0, to - from + 1, nowMicros, (int) live() + more);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.permits() - live());
    }

    @Override
    public long waitMicros(Limit limit, long cost, long nowMicros) {
        if (cost > limit.permits()) {
            return Quota.NEVER;
        }
        if (fits(limit, cost, nowMicros)) {
            return 0;
        }
        long gone = older.totalBefore(from) + live() + cost - limit.permits();
        int last = LogEntries.first(from, to, i -> older.totalAt(i) >= gone);
        return (last < to ? older.timeAt(last) : newestMicros) + limit.windowMicros() - nowMicros;
    }

    @Override
    public long resetMicros(Limit limit, long nowMicros) {
        return live() == 0 ? 0 : newestMicros + limit.windowMicros() - nowMicros;
    }

    @Override
    public SlidingLogState giveBack(Limit limit, LimitState charged, long cost, long nowMicros) {
        if (!(charged instanceof SlidingLogState then)
                || then.live() == 0
                || live() == 0
                || nowMicros - then.newestMicros >= limit.windowMicros()) {
            return this;
        }
        long instant = then.newestMicros;
        if (instant == newestMicros) {
            return upTo(Math.max(total - cost, older.totalBefore(to)));
        }
        int index = LogEntries.first(from, to, i -> older.timeAt(i) >= instant);
        if (index == to || older.timeAt(index) != instant) {
            return this;
        }
        int less = (int) Math.min(cost, older.totalAt(index) - older.totalBefore(index));
        LogEntries copy = older.copy(from, to, index, less);
        return new SlidingLogState(copy, 0, copy.size(), newestMicros, (int) live() - less);
    }

    @Override
    public SlidingLogState giveBack(Limit limit, long cost) {
        return upTo(total - cost);
    }

    /** This log without what was spent last, beyond some total. */
    private SlidingLogState upTo(long least) {
        if (least <= older.totalBefore(from)) {
            return EMPTY;
        }
        if (least > older.totalBefore(to)) {
            return new SlidingLogState(older, from, to, newestMicros, (int) least);
        }
        int last = LogEntries.first(from, to, i -> older.totalAt(i) >= least);
        return new SlidingLogState(older, from, last, older.timeAt(last), (int) least);
    }

    LogEntries older() {
        return older;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof SlidingLogState that)
                || newestMicros != that.newestMicros
                || live() != that.live()
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
        return 31 * Long.hashCode(newestMicros) + Long.hashCode(live());
    }

    /** Each entry as time and cost, oldest first. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("SlidingLogState[");
        for (int i = from; i < to; i++) {
            text.append(older.timeAt(i))
                    .append(": ")
                    .append(older.totalAt(i) - older.totalBefore(i))
                    .append(", ");
        }
        return live() == 0
                ? "SlidingLogState[]"
                : text.append(newestMicros)
                        .append(": ")
                        .append(total - older.totalBefore(to))
                        .append(']')
                        .toString();
    }
}
