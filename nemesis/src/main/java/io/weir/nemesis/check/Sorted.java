// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

/** Numbers of instants in sorted arrays. */
final class Sorted {
    private Sorted() {}

    /** Returns how many instants are before another one. */
    static int before(long[] sorted, long instant) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < instant) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns how many instants are before another one, or equal to it. */
    static int upTo(long[] sorted, long instant) {
        return instant == Long.MAX_VALUE ? sorted.length : before(sorted, instant + 1);
    }
}
