// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.function.IntPredicate;

/**
 * Admitted calls of a sliding log, oldest first: the time of each and the permits spent up to and with it. Entries are only
 * ever added at the end and never change, so states that follow each other share them, each with its own view.
 */
final class LogEntries {
    static final LogEntries NONE = new LogEntries(0);

    private final long[] times;
    private final int[] totals;
    private int size;

    LogEntries(int capacity) {
        times = new long[capacity];
        totals = new int[capacity];
    }

    long timeAt(int index) {
        return times[index];
    }

    int totalAt(int index) {
        return totals[index];
    }

    /** Permits spent before an entry. */
    int totalBefore(int index) {
        return index == 0 ? 0 : totals[index - 1];
    }

    int capacity() {
        return times.length;
    }

    /** The first position of a range for which something holds that holds for all after it; the range's end if for none. */
    static int first(int from, int to, IntPredicate holds) {
        int low = from;
        int high = to;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (holds.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /**
     * Puts an entry at a position, if it is the next free one, or has that very entry already: that of a state from which a
     * later call was given back.
     *
     * @return false if another state has taken the position, or there is no room
     */
    synchronized boolean put(int index, long timeMicros, int total) {
        if (index < size) {
            return times[index] == timeMicros && totals[index] == total;
        }
        if (index > size || index == times.length) {
            return false;
        }
        times[index] = timeMicros;
        totals[index] = total;
        size++;
        return true;
    }

    /**
     * A copy of a range, with room for half as many again and totals that start at 0. One entry may have less, and is left out
     * when nothing of it is left.
     */
    LogEntries copy(int from, int to, int lessAt, int less) {
        LogEntries copy = new LogEntries((to - from) * 3 / 2 + 8);
        int gone = totalBefore(from);
        for (int i = from; i < to; i++) {
            gone += i == lessAt ? less : 0;
            int total = totals[i] - gone;
            if (total > copy.totalBefore(copy.size)) {
                copy.times[copy.size] = times[i];
                copy.totals[copy.size] = total;
                copy.size++;
            }
        }
        return copy;
    }

    int size() {
        return size;
    }
}
