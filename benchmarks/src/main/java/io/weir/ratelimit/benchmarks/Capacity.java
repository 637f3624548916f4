// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.CapacityTable;

/** What a Redis must have for so many keys and so many decisions per second, as two tables. */
public final class Capacity {
    private Capacity() {}

    /**
     * Measures and prints.
     *
     * @param arguments none
     */
    public static void main(String... arguments) {
        new CapacityTable(System.out).print();
        System.exit(0);
    }
}
