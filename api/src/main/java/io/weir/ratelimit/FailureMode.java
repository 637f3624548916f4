// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * What a policy does with a call when the shared store cannot decide about it.
 *
 * <p>A request under several policies takes the strictest of their modes: {@link #CLOSED}, {@link #LOCAL}, {@link #SAMPLE},
 * {@link #OPEN}.
 */
public enum FailureMode {
    /** The call is let through, uncounted. Also called fail-open. The store is never the reason that an API is down. */
    OPEN("open"),
    /** The call is refused as unavailable (503), never as over a quota. Also called fail-closed. */
    CLOSED("closed"),
    /**
     * The call is counted in process, against permits ÷ {@code ratelimit.instances}, at least one call; over that it is refused as
     * unavailable (503).
     */
    LOCAL("local"),
    /** One call in {@code ratelimit.instances} is let through at random, whatever the limit; others are refused as unavailable (503). Cruder than {@link #LOCAL}. */
    SAMPLE("sample");

    private final String configName;

    FailureMode(String configName) {
        this.configName = configName;
    }

    /** The name that configuration uses, such as {@code open}. */
    public String configName() {
        return configName;
    }
}
