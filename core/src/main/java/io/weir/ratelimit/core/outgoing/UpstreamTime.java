// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.outgoing;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** A reader of the times that an upstream writes: seconds, seconds of the epoch, and HTTP dates. All results are bounded. */
final class UpstreamTime {
    /** The longest time in seconds. A greater value counts as this one. */
    static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(366);

    private static final int MAX_DIGITS = 15;
    private static final int LONGEST_DATE = 40;

    /** A number from here on is an instant in seconds, because no quota lasts 31 years. */
    private static final long FIRST_EPOCH_SECOND = 1_000_000_000;

    /** A number from here on is an instant in milliseconds. */
    private static final long FIRST_EPOCH_MILLI = FIRST_EPOCH_SECOND * 1_000;

    private static final int CENTURY = 2000;

    /** The last year of the forms of a date, which have four digits. */
    private static final int LAST_YEAR = 9999;

    /** The three forms of a date (RFC 9110, 5.6.7). */
    private static final List<DateTimeFormatter> DATES = List.of(
            DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.ENGLISH),
            new DateTimeFormatterBuilder()
                    .appendPattern("EEEE, dd-MMM-")
                    .appendValueReduced(ChronoField.YEAR, 2, 2, CENTURY)
                    .appendPattern(" HH:mm:ss 'GMT'")
                    .toFormatter(Locale.ENGLISH),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH));

    private UpstreamTime() {}

    /** Reads a whole number that is not negative. A number of more than 15 digits counts as the greatest one of 15. */
    static OptionalLong number(String text) {
        String digits = text.strip();
        if (digits.isEmpty()) {
            return OptionalLong.empty();
        }
        long number = 0;
        int significant = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return OptionalLong.empty();
            }
            significant += significant > 0 || digit > 0 ? 1 : 0;
            number = significant > MAX_DIGITS ? number : number * 10 + digit;
        }
        return OptionalLong.of(significant > MAX_DIGITS ? 999_999_999_999_999L : number);
    }

    /** Reads a duration in seconds. */
    static OptionalLong seconds(String text) {
        OptionalLong number = number(text);
        return number.isPresent() ? OptionalLong.of(bounded(number.getAsLong())) : number;
    }

    /** Reads the time until a reset: a duration in seconds, or an instant in seconds or milliseconds of the epoch. */
    static OptionalLong secondsUntil(String text, Instant now) {
        OptionalLong number = number(text);
        if (number.isEmpty()) {
            return number;
        }
        long value = number.getAsLong();
        if (value < FIRST_EPOCH_SECOND) {
            return OptionalLong.of(bounded(value));
        }
        Instant end = value < FIRST_EPOCH_MILLI ? Instant.ofEpochSecond(value) : Instant.ofEpochMilli(value);
        return OptionalLong.of(secondsBetween(now, end));
    }

    /** Reads the field {@code Retry-After}: a duration in seconds, or a date. */
    static OptionalLong retryAfter(String text, Instant now) {
        OptionalLong seconds = seconds(text);
        if (seconds.isPresent()) {
            return seconds;
        }
        Optional<Instant> date = date(text);
        return date.isEmpty() ? OptionalLong.empty() : OptionalLong.of(secondsBetween(now, date.get()));
    }

    /** Reads a date. */
    static Optional<Instant> date(String text) {
        String date = text.strip();
        if (date.length() > LONGEST_DATE) {
            return Optional.empty();
        }
        for (DateTimeFormatter form : DATES) {
            try {
                LocalDateTime time = LocalDateTime.parse(date, form);
                return time.getYear() > LAST_YEAR ? Optional.empty() : Optional.of(time.toInstant(ZoneOffset.UTC));
            } catch (DateTimeException e) {
                // It can have another form.
            }
        }
        return Optional.empty();
    }

    /** Rounds up. An instant of any year has seconds of the epoch, but not milliseconds. */
    private static long secondsBetween(Instant now, Instant end) {
        long seconds = end.getEpochSecond() - now.getEpochSecond();
        return bounded(end.getNano() > now.getNano() ? seconds + 1 : seconds);
    }

    private static long bounded(long seconds) {
        return Math.max(0, Math.min(MAX_SECONDS, seconds));
    }
}
