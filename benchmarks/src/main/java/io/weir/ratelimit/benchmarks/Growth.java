// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.comparison.GrowthOptions;
import io.weir.ratelimit.benchmarks.comparison.GrowthRow;
import io.weir.ratelimit.benchmarks.comparison.KeyGrowth;
import io.weir.ratelimit.benchmarks.comparison.MasterGrowth;
import io.weir.ratelimit.benchmarks.comparison.PolicyGrowth;
import io.weir.ratelimit.interceptor.cdi.ConfigurationGrowth;
import java.util.ArrayList;
import java.util.List;

/** A program that measures costs at three sizes each: of keys, masters, policies, limits and configuration. */
public final class Growth {
    private Growth() {}

    /**
     * Prints one table to standard output and the progress to standard error. The exit status is 2 for invalid arguments.
     *
     * @param arguments see {@link GrowthOptions#USAGE}
     */
    public static void main(String... arguments) {
        GrowthOptions options;
        try {
            options = GrowthOptions.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + GrowthOptions.USAGE);
            System.exit(2);
            return;
        }
        List<GrowthRow> rows = new ArrayList<>();
        for (String mode : options.modes()) {
            long start = System.nanoTime();
            List<GrowthRow> measured = measure(mode, options);
            System.err.printf("%s: %d s%n", mode, (System.nanoTime() - start) / 1_000_000_000);
            rows.addAll(measured);
        }
        System.out.print(GrowthRow.table(rows));
        rows.forEach(row -> row.figure().print());
        System.exit(0);
    }

    private static List<GrowthRow> measure(String mode, GrowthOptions options) {
        return switch (mode) {
            case "configuration" -> ConfigurationGrowth.measure(options);
            case "local" -> LocalGrowth.measure(options);
            case "policies" -> {
                List<GrowthRow> rows = new ArrayList<>(LocalPolicyGrowth.measure(options));
                rows.addAll(PolicyGrowth.measure(options));
                yield rows;
            }
            case "masters" -> MasterGrowth.measure(options);
            case "keys" -> KeyGrowth.measure(options);
            default -> throw new IllegalArgumentException(mode);
        };
    }
}
