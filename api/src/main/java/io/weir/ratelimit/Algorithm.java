// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * How a limit of <i>n</i> permits per window counts.
 *
 * <p>Each algorithm documents the most it can admit in any span as long as its window; the log never admits more than
 * <i>n</i>. None of them charges a refused call.
 */
public enum Algorithm {
    /**
     * At most <i>n</i> in each window; a window starts at the key's first call and ends after its length. Also called fixed
     * window counter. Two numbers per key. Two windows that touch admit up to 2<i>n</i> − 1 in a span as long as one.
     */
    FIXED_WINDOW("fixed-window", 'f'),

    /**
     * The count of this window plus the count of the one before, weighted by how much of it still overlaps: {@code current +
     * previous × (1 − elapsed) + cost ≤ n}. Also called sliding window counter. Three numbers per key.
     *
     * <p>Windows are anchored at the key's first call. The weighting takes the previous window's calls as evenly spread, so it
     * is an approximation: a caller who spends everything at the end of one window and keeps spending as permits return can
     * be admitted up to 2<i>n</i> − 2 times in a span as long as one window, spread out, never as one burst.
     */
    SLIDING_WINDOW("sliding-window", 's'),

    /**
     * At most <i>n</i> in every span as long as the window, exactly: each admitted call is remembered until the window has
     * passed since, and its permits then return together. Also called sliding window log.
     *
     * <p>Memory grows with the calls admitted in a window, and so does the work to store one more: two numbers per call and
     * key. So more than 10,000 permits are refused at deployment.
     */
    SLIDING_LOG("sliding-log", 'g'),

    /**
     * A bucket of {@code burst} permits that is refilled continuously with <i>n</i> permits per window; a call takes its cost
     * out of it. Also called GCRA, or leaky bucket as a meter. Two numbers per key. Admits {@code burst + n − 1} in a span as long
     * as one window after a rest, and <i>n</i> per window in the long run.
     */
    TOKEN_BUCKET("token-bucket", 't'),

    /**
     * A token bucket that holds a single permit unless {@code burst} says otherwise: a steady rate, a call every window ÷
     * <i>n</i>. A call that comes too early is refused, or queues for its slot where the policy has a {@code max-wait}. Two
     * numbers per key. Admits {@code burst + n − 1} in a span as long as one
     * window.
     */
    LEAKY_BUCKET("leaky-bucket", 'l');

    private final String configName;
    private final char letter;

    Algorithm(String configName, char letter) {
        this.configName = configName;
        this.letter = letter;
    }

    /** The name that configuration uses, such as {@code sliding-window}. */
    public String configName() {
        return configName;
    }

    /** The letter that names the algorithm in stored keys. Part of the stored format: it never changes. */
    public char letter() {
        return letter;
    }
}
