// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * The way in which a policy decides a call while the shared backend is unavailable; the property {@code on-failure}.
 *
 * <p>If a request has several policies, the strictest of their modes applies. The order, from strict to lenient, is {@link #CLOSED},
 * {@link #LOCAL}, {@link #SAMPLE}, {@link #OPEN}.
 */
public enum FailureMode {
    /** Allows each call without counting it. Also called fail-open. An unavailable backend never makes an API unavailable. */
    OPEN("open"),
    /** Rejects each call as unavailable (503), never as over a limit (429). Also called fail-closed. */
    CLOSED("closed"),
    /**
     * Counts calls in process against the permits ÷ the number of instances ({@code ratelimit.instances}), at least one permit. A call
     * over that limit is rejected as unavailable (503).
     */
    LOCAL("local"),
    /**
     * Allows one call in the number of instances ({@code ratelimit.instances}) at random, whatever the limit is, and rejects the others
     * as unavailable (503). Less exact than {@link #LOCAL}.
     */
    SAMPLE("sample");

    private final String configName;

    FailureMode(String configName) {
        this.configName = configName;
    }

    /**
     * Returns the name of the mode in configuration.
     *
     * @return the name, such as {@code open}
     */
    public String configName() {
        return configName;
    }
}
