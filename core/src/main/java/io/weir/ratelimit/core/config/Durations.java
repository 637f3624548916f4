// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parser of durations: {@code 500ms}, {@code 10s}, {@code 1m}, {@code 24h}, {@code 7d}. */
public final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");
    private static final Map<String, Duration> UNITS = Map.of(
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "m", Duration.ofMinutes(1),
            "h", Duration.ofHours(1),
            "d", Duration.ofDays(1));

    private Durations() {}

    /**
     * Parses a duration.
     *
     * @param text the text, without blanks around it
     * @return the duration, zero or more
     * @throws IllegalArgumentException if it has another form
     */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s");
        }
        Duration unit = UNITS.getOrDefault(matcher.group(2), Duration.ZERO);
        try {
            return unit.multipliedBy(Long.parseLong(matcher.group(1)));
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("\"" + text + "\" is too long", e);
        }
    }
}
