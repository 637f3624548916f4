// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.MemoryTable;

/** A program that measures the memory of Redis per key, for each algorithm and for other limiters. */
public final class MemoryPerKey {
    private MemoryPerKey() {}

    /**
     * Prints a table.
     *
     * @param arguments none
     */
    public static void main(String... arguments) {
        new MemoryTable(System.out).print();
        System.exit(0);
    }
}
