// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The name of an instance of the application on its host. The start summary and the console show it, so an operator can find the process
 * and the log of an instance. Process ids can be the same, of containers or of deployments in one process, so {@code start} is four random
 * hexadecimal digits.
 */
public record InstanceName(long process, String start) {
    private static final InstanceName OWN = new InstanceName(
            ProcessHandle.current().pid(),
            String.format(Locale.ROOT, "%04x", ThreadLocalRandom.current().nextInt(1 << 16)));

    /** Returns the name of this instance, which remains the same until the application ends. */
    public static InstanceName own() {
        return OWN;
    }

    /** Returns the name as text, such as {@code 4711-3f2a}. */
    @Override
    public String toString() {
        return process + "-" + start;
    }
}
