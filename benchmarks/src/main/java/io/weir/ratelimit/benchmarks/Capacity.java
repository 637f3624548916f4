// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.CapacityTable;

/** A program that measures the memory of Redis by the number of keys, and its processor time by decisions per second. */
public final class Capacity {
    private Capacity() {}

    /**
     * Prints two tables.
     *
     * @param arguments none
     */
    public static void main(String... arguments) {
        new CapacityTable(System.out).print();
        System.exit(0);
    }
}
