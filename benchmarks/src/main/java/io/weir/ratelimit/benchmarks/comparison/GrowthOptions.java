// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.report.Trial;
import java.util.ArrayList;
import java.util.List;

/**
 * The options of the measurement of growth.
 *
 * @param modes the measurements, in the order of {@link #MODES}
 * @param quick whether the sizes and the turns are small
 */
public record GrowthOptions(List<String> modes, boolean quick) {
    /** All measurements. The configuration is first, so that its start is that of a new process. */
    public static final List<String> MODES = List.of("configuration", "local", "policies", "masters", "keys");

    /** The description of the arguments. */
    public static final String USAGE = "Arguments: [quick] and any of " + MODES + ", all without one";

    /**
     * Parses the command line.
     *
     * @throws IllegalArgumentException if an argument is invalid
     */
    public static GrowthOptions parse(String... arguments) {
        List<String> rest = new ArrayList<>(List.of(arguments));
        boolean quick = rest.remove("quick") || Trial.or(0, 1) == 1;
        if (!MODES.containsAll(rest)) {
            rest.removeAll(MODES);
            throw new IllegalArgumentException("unknown: " + String.join(" ", rest));
        }
        return new GrowthOptions(
                MODES.stream()
                        .filter(mode -> rest.isEmpty() || rest.contains(mode))
                        .toList(),
                quick);
    }

    /** Returns the sizes to measure: the second list if the run is quick. */
    public List<Integer> sizes(List<Integer> full, List<Integer> small) {
        return quick ? small : full;
    }

    /** Returns the number of measured rounds. */
    public int rounds() {
        return quick ? 3 : 5;
    }

    /** Returns the duration of a turn in seconds. */
    double seconds() {
        return quick ? 0.1 : 0.5;
    }
}
