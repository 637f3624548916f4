// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.List;
import java.util.Optional;

/**
 * The tools that this run must have, so that a test which would be skipped without one fails instead: a comma list in
 * {@code -Dweir.test.require}, else in the environment as {@code WEIR_TEST_REQUIRE}.
 */
public final class Required {
    private Required() {}

    /** Whether a test may not do without that tool. */
    public static boolean tool(String name) {
        return among(
                Optional.ofNullable(System.getProperty("weir.test.require"))
                        .orElseGet(() -> System.getenv().getOrDefault("WEIR_TEST_REQUIRE", "")),
                name);
    }

    static boolean among(String list, String name) {
        return List.of(list.strip().split("\\s*,\\s*")).contains(name);
    }
}
