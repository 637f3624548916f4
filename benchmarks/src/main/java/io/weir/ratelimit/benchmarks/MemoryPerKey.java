// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.MemoryTable;

/** The memory of Redis that a limited key takes with each algorithm and with other limiters, as a table. */
public final class MemoryPerKey {
    private MemoryPerKey() {}

    /**
     * Measures and prints.
     *
     * @param arguments none
     */
    public static void main(String... arguments) {
        new MemoryTable(System.out).print();
        System.exit(0);
    }
}
