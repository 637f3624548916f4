// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import java.util.function.IntPredicate;

/**
 * The entries of a sliding log, oldest first. Each entry has the instant of a call, in microseconds, and the total of permits spent
 * up to and including that call. Entries are only appended and never change, so consecutive states share one object, and each
 * state refers to a range of it.
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

    /** Returns the permits spent before an entry. */
    int totalBefore(int index) {
        return index == 0 ? 0 : totals[index - 1];
    }

    int capacity() {
        return times.length;
    }

    int size() {
        return size;
    }

    /**
     * Finds the first index of a range that satisfies a condition by binary search, {@code to} if there is none. If an index satisfies the
     * condition, all later ones must satisfy it.
     */
    static int firstIndex(int from, int to, IntPredicate condition) {
        int low = from;
        int high = to;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (condition.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /**
     * Appends an entry, unless this object has an equal entry at that index. The latter happens after a refund: the state without
     * the refunded call appends again.
     *
     * @return false if another state has appended another entry at that index, or there is no space
     */
    synchronized boolean append(int index, long timeMicros, int total) {
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
     * Copies a range, with space for half as many entries again and with totals that start at 0.
     *
     * @param reducedIndex the index of an entry whose permits are reduced; the copy omits the entry if no permits are left
     * @param reduction the permits to subtract from that entry; if negative, the permits to add
     */
    LogEntries copy(int from, int to, int reducedIndex, int reduction) {
        LogEntries copy = new LogEntries((to - from) * 3 / 2 + 8);
        int subtracted = totalBefore(from);
        for (int i = from; i < to; i++) {
            subtracted += i == reducedIndex ? reduction : 0;
            int total = totals[i] - subtracted;
            if (total > copy.totalBefore(copy.size)) {
                copy.times[copy.size] = times[i];
                copy.totals[copy.size] = total;
                copy.size++;
            }
        }
        return copy;
    }
}
