// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * The algorithm by which a limit of <i>n</i> permits per window counts calls.
 *
 * <p>A call with a cost of <i>c</i> spends <i>c</i> permits. No algorithm charges a rejected call. Each constant states its worst
 * case, which is the greatest number of permits that calls can spend in any period as long as the window. It also states the size of
 * the state that a backend keeps per key.
 */
public enum Algorithm {
    /**
     * A counter that starts again with each window. A window starts at the first call of the key and ends when its length has
     * passed. Also called fixed window counter.
     *
     * <p>Calls spend at most <i>n</i> permits in each window. Two adjacent windows allow up to 2<i>n</i> − 1 permits in a period as
     * long as one window. State: two numbers per key.
     */
    FIXED_WINDOW("fixed-window"),

    /**
     * A counter over the current window and the part of the previous window that still overlaps: {@code current + previous × (1 −
     * elapsed) + cost ≤ n}. Windows are anchored at the first call of the key. Also called sliding window counter.
     *
     * <p>The formula assumes that the calls of the previous window were evenly distributed, so it is an approximation. In the worst case,
     * a caller spends <i>n</i> permits at the end of one window, and then each permit as soon as it returns. Such a caller spends up to
     * 2<i>n</i> − 2 permits in a period as long as one window. These calls are spread over that period and never form one burst. State:
     * three numbers per key.
     */
    SLIDING_WINDOW("sliding-window"),

    /**
     * A log of the allowed calls. The permits of a call return when the window has passed since the call. Also called sliding window
     * log.
     *
     * <p>Calls spend at most <i>n</i> permits in every period as long as the window; the result is exact. State: two numbers per
     * allowed call and key, and the work to add a call grows with their number. A limit of more than 10,000 permits is therefore a
     * deployment error.
     */
    SLIDING_LOG("sliding-log"),

    /**
     * A bucket of {@code burst} permits that is refilled continuously with <i>n</i> permits per window. A call takes its cost from the
     * bucket. Equivalent to the generic cell rate algorithm (GCRA, ITU-T I.371), which is also called leaky bucket as a meter.
     *
     * <p>After an idle period, calls spend at most {@code burst + n − 1} permits in a period as long as one window. In the long run they
     * spend <i>n</i> permits per window. State: two numbers per key.
     */
    TOKEN_BUCKET("token-bucket"),

    /**
     * A token bucket with a capacity of one permit, unless {@code burst} is configured: a steady rate of one permit per window ÷
     * <i>n</i>.
     *
     * <p>A call that arrives too early is rejected. If the policy has a {@code max-wait}, the call waits for its permits instead. Calls
     * spend at most {@code burst + n − 1} permits in a period as long as one window. State: two numbers per key.
     */
    LEAKY_BUCKET("leaky-bucket");

    private final String configName;

    Algorithm(String configName) {
        this.configName = configName;
    }

    /**
     * Returns the name of the algorithm in configuration.
     *
     * @return the name, such as {@code sliding-window}
     */
    public String configName() {
        return configName;
    }
}
