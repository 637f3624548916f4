// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A reader of the dates that an upstream writes. */
final class UpstreamTime {
    /** The longest time in seconds. A greater value counts as this one. */
    static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(366);

    private static final int LONGEST_DATE = 40;

    /** The first of the hundred years that two digits can mean, because a date is not more than 50 years in the future, as of 2026. */
    private static final int FIRST_YEAR = 1977;

    /** The last year of the forms of a date, which have four digits. */
    private static final int LAST_YEAR = 9999;

    /** The three forms of a date (RFC 9110, 5.6.7). */
    private static final List<DateTimeFormatter> DATES = List.of(
            DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.ENGLISH),
            new DateTimeFormatterBuilder()
                    .appendPattern("EEEE, dd-MMM-")
                    .appendValueReduced(ChronoField.YEAR, 2, 2, FIRST_YEAR)
                    .appendPattern(" HH:mm:ss 'GMT'")
                    .toFormatter(Locale.ENGLISH),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH));

    /** Forms with an offset or another name of the zone, which no standard of HTTP has. */
    private static final List<DateTimeFormatter> OFFSET_DATES = List.of(
            DateTimeFormatter.ISO_OFFSET_DATE_TIME,
            DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ENGLISH),
            new DateTimeFormatterBuilder()
                    .appendPattern("EEE, d MMM uuuu HH:mm:ss 'UTC'")
                    .parseDefaulting(ChronoField.OFFSET_SECONDS, 0)
                    .toFormatter(Locale.ENGLISH));

    private UpstreamTime() {}

    /** Reads a date of HTTP, or one with an offset. */
    static Optional<Instant> date(String text) {
        Optional<Instant> date = httpDate(text);
        for (DateTimeFormatter form : OFFSET_DATES) {
            if (date.isEmpty() && canBeDate(text.strip())) {
                try {
                    OffsetDateTime time = OffsetDateTime.parse(text.strip(), form);
                    date = time.getYear() > LAST_YEAR ? Optional.empty() : Optional.of(time.toInstant());
                } catch (DateTimeException e) {
                    // It can have another form.
                }
            }
        }
        return date;
    }

    /** Most values are numbers, and an exception for each form of a date is expensive. */
    private static boolean canBeDate(String text) {
        return text.length() <= LONGEST_DATE && text.indexOf(':') > 0;
    }

    /** Reads a date of HTTP. */
    static Optional<Instant> httpDate(String text) {
        String date = text.strip();
        if (!canBeDate(date)) {
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
}
