// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A number of an upstream: a count of calls, or a time in seconds, 0 or more; {@link #UNREADABLE_SECONDS} for an unreadable time. This is
 * the only reader of such numbers, so all fields have the same spellings. A count is rounded down and a time up, so no spelling lets a
 * client call earlier than the upstream means.
 */
record UpstreamNumber(long value, Form form) {
    /** The values of a field that are read. A field with more values is unreadable, so that no upstream makes a response expensive. */
    static final int MAX_VALUES = 16;

    /** The seconds of a time that cannot be read. */
    static final long UNREADABLE_SECONDS = 30;

    /** The units in seconds. */
    private static final Map<String, BigDecimal> UNITS = Map.ofEntries(
            Map.entry("ns", new BigDecimal("0.000000001")),
            Map.entry("us", new BigDecimal("0.000001")),
            Map.entry("µs", new BigDecimal("0.000001")),
            Map.entry("ms", new BigDecimal("0.001")),
            Map.entry("s", BigDecimal.ONE),
            Map.entry("sec", BigDecimal.ONE),
            Map.entry("second", BigDecimal.ONE),
            Map.entry("m", BigDecimal.valueOf(60)),
            Map.entry("min", BigDecimal.valueOf(60)),
            Map.entry("minute", BigDecimal.valueOf(60)),
            Map.entry("h", BigDecimal.valueOf(3_600)),
            Map.entry("hr", BigDecimal.valueOf(3_600)),
            Map.entry("hour", BigDecimal.valueOf(3_600)),
            Map.entry("d", BigDecimal.valueOf(86_400)),
            Map.entry("day", BigDecimal.valueOf(86_400)));

    private static final Pattern DIGITS = Pattern.compile("\\d++");
    private static final Pattern DECIMAL = Pattern.compile("\\+?+(\\d++)(?:\\.(\\d*+))?+");
    private static final Pattern QUANTITY = Pattern.compile("\\G\\s*+(\\d++)(?:\\.(\\d++))?+\\s*+([a-zµ]++)");
    private static final Pattern RANGE = Pattern.compile("([\\d.]++)\\s*+-\\s*+([\\d.]++)");

    /** A comma between values, not the one in a date. */
    private static final Pattern COMMA = Pattern.compile("(?<!Mon|Tue|Wed|Thu|Fri|Sat|Sun|day),");

    /** The digits of a number of seconds. A longer one is an instant, because no quota lasts 31 years. */
    private static final int SECONDS_DIGITS = 9;

    /** The digits of instants: 12 for seconds of the epoch, and 3 more for each smaller unit. */
    private static final int EPOCH_DIGITS = 12;

    private static final int UNIT_DIGITS = 3;
    private static final int MAX_DIGITS = 21;
    private static final int MAX_COUNT_DIGITS = 15;
    private static final long MAX_COUNT = 999_999_999_999_999L;
    private static final int NANO_DIGITS = 9;

    /** How a text is written. */
    enum Form {
        /** The form of a standard: a whole number or a date. */
        STANDARD,
        /** Another form that is read all the same. */
        OTHER,
        /** Not readable. */
        UNREADABLE
    }

    boolean isReadable() {
        return form != Form.UNREADABLE;
    }

    /** Reads the count of a field with one line, or with equal lines. Several different lines contradict each other. */
    static UpstreamNumber count(List<String> lines) {
        List<String> different = lines.stream().map(String::strip).distinct().toList();
        Matcher decimal = DECIMAL.matcher(different.size() == 1 ? unquoted(different.get(0)) : "");
        if (!decimal.matches()) {
            return new UpstreamNumber(0, Form.UNREADABLE);
        }
        String digits = significant(decimal.group(1));
        long count = digits.length() > MAX_COUNT_DIGITS ? MAX_COUNT : Long.parseLong("0" + digits);
        return new UpstreamNumber(count, isStandard(different.get(0)) ? Form.STANDARD : Form.OTHER);
    }

    /**
     * Reads the longest time of the lines of a field; without one, the time is 0. Instants count from the time of the upstream, and
     * durations from when it sent the field.
     */
    static UpstreamNumber time(List<String> lines, Instant now, long age) {
        Form form =
                lines.isEmpty() || (lines.size() == 1 && isStandard(lines.get(0).strip())) ? Form.STANDARD : Form.OTHER;
        long longest = 0;
        List<String> values = values(lines);
        for (int i = 0; i < values.size(); i++) {
            Optional<BigDecimal> seconds =
                    i < MAX_VALUES ? seconds(unquoted(values.get(i)), now, age) : Optional.empty();
            if (seconds.isEmpty()) {
                form = Form.UNREADABLE;
            }
            longest = Math.max(longest, bounded(seconds.orElseGet(() -> BigDecimal.valueOf(UNREADABLE_SECONDS - age))));
        }
        return new UpstreamNumber(longest, form);
    }

    /** Returns the values of a field, which has one or several on each line, with one above {@link #MAX_VALUES} at most. */
    static List<String> values(List<String> lines) {
        return lines.stream()
                .flatMap(line -> UpstreamTime.date(line).isPresent() ? Stream.of(line) : COMMA.splitAsStream(line))
                .map(String::strip)
                .limit(MAX_VALUES + 1L)
                .toList();
    }

    private static boolean isStandard(String text) {
        return DIGITS.matcher(text).matches() || UpstreamTime.httpDate(text).isPresent();
    }

    /** Returns the seconds from now on, which are negative for an instant in the past; empty if the text is unreadable. */
    private static Optional<BigDecimal> seconds(String text, Instant now, long age) {
        Matcher decimal = DECIMAL.matcher(text);
        if (decimal.matches()) {
            String digits = significant(decimal.group(1));
            if (digits.length() > SECONDS_DIGITS) {
                return Optional.of(secondsUntilEpoch(digits, decimal.group(2), now));
            }
        }
        Optional<Instant> date = UpstreamTime.date(text);
        return date.isPresent()
                ? Optional.of(between(now, decimalOf(date.get())))
                : duration(text).map(seconds -> seconds.subtract(BigDecimal.valueOf(age)));
    }

    /** Returns the time until an instant. Its unit follows from the number of digits. */
    private static BigDecimal secondsUntilEpoch(String digits, String fraction, Instant now) {
        if (digits.length() > MAX_DIGITS) {
            return BigDecimal.valueOf(UpstreamTime.MAX_SECONDS);
        }
        int smaller = Math.max(0, (digits.length() - EPOCH_DIGITS + UNIT_DIGITS - 1) / UNIT_DIGITS);
        return between(now, decimal(digits, fraction).movePointLeft(smaller * UNIT_DIGITS));
    }

    private static Optional<BigDecimal> duration(String text) {
        Matcher decimal = DECIMAL.matcher(text);
        if (decimal.matches()) {
            return Optional.of(decimal(significant(decimal.group(1)), decimal.group(2)));
        }
        Matcher range = RANGE.matcher(text);
        if (range.matches()) {
            return duration(range.group(1))
                    .flatMap(from -> duration(range.group(2)).map(from::max));
        }
        return text.startsWith("P") ? isoDuration(text) : quantities(text.toLowerCase(Locale.ROOT));
    }

    private static Optional<BigDecimal> isoDuration(String text) {
        try {
            Duration duration = Duration.parse(text);
            return duration.isNegative()
                    ? Optional.empty()
                    : Optional.of(BigDecimal.valueOf(duration.getSeconds())
                            .add(BigDecimal.valueOf(duration.getNano(), NANO_DIGITS)));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Reads numbers with units, such as {@code 6m0s} or {@code 2 minutes}. */
    private static Optional<BigDecimal> quantities(String text) {
        BigDecimal sum = BigDecimal.ZERO;
        int end = 0;
        Matcher quantity = QUANTITY.matcher(text);
        for (int i = 0; i < MAX_VALUES && quantity.find(); i++) {
            String unit = quantity.group(3);
            BigDecimal seconds = UNITS.get(unit);
            if (seconds == null && unit.endsWith("s")) {
                seconds = UNITS.get(unit.substring(0, unit.length() - 1));
            }
            if (seconds == null) {
                return Optional.empty();
            }
            sum = sum.add(
                    decimal(significant(quantity.group(1)), quantity.group(2)).multiply(seconds));
            end = quantity.end();
        }
        return end > 0 && end == text.length() ? Optional.of(sum) : Optional.empty();
    }

    /** Creates a number of bounded length, which is rounded up. */
    private static BigDecimal decimal(String digits, String fraction) {
        BigDecimal whole = digits.length() > MAX_DIGITS ? BigDecimal.TEN.pow(MAX_DIGITS) : new BigDecimal("0" + digits);
        if (fraction == null || fraction.isEmpty()) {
            return whole;
        }
        String kept = fraction.substring(0, Math.min(NANO_DIGITS, fraction.length()));
        BigDecimal sum = whole.add(new BigDecimal("0." + kept));
        boolean isLonger = fraction.chars().skip(NANO_DIGITS).anyMatch(digit -> digit != '0');
        return isLonger ? sum.add(BigDecimal.valueOf(1, NANO_DIGITS)) : sum;
    }

    private static String significant(String digits) {
        return digits.replaceFirst("^0++", "");
    }

    private static BigDecimal between(Instant now, BigDecimal end) {
        return end.subtract(decimalOf(now));
    }

    private static BigDecimal decimalOf(Instant instant) {
        return BigDecimal.valueOf(instant.getEpochSecond()).add(BigDecimal.valueOf(instant.getNano(), NANO_DIGITS));
    }

    private static long bounded(BigDecimal seconds) {
        return seconds.max(BigDecimal.ZERO)
                .min(BigDecimal.valueOf(UpstreamTime.MAX_SECONDS))
                .setScale(0, RoundingMode.CEILING)
                .longValueExact();
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() > 1 && text.charAt(0) == '"' && text.endsWith("\"");
        return quoted ? text.substring(1, text.length() - 1) : text;
    }
}
