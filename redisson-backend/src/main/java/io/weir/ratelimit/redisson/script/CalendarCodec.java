// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import java.util.List;

/** The parts of calendar limits in the argument and the reply of {@code acquire.lua}. The header of the script describes them. */
public final class CalendarCodec {
    /** By how much the expected instant can be ahead of Redis's clock, so that its period has a start that is early enough. */
    private static final long AHEAD_MICROS = 1_000_000;

    private static final int TIME = 7;
    private static final int PERMITS = 6;

    private CalendarCodec() {}

    /**
     * Puts two periods of a calendar limit. The first one contains the instant that is expected, or has ended a short time before it.
     * Redis's clock shows no time before {@link CalendarBounds#ORIGIN}.
     */
    static void put(MessageBytes out, CalendarPeriod period, long expectedMicros) {
        long expected = expected(expectedMicros);
        out.put(start(period, expected), TIME);
        out.put(CalendarBounds.at(period, expected).endMicros(), TIME);
        out.put(end(period, expected), TIME);
    }

    private static long expected(long expectedMicros) {
        return Math.max(0, expectedMicros - AHEAD_MICROS);
    }

    private static long start(CalendarPeriod period, long expected) {
        return Math.max(0, CalendarBounds.at(period, expected).startMicros());
    }

    private static long end(CalendarPeriod period, long expected) {
        return CalendarBounds.after(period, expected).endMicros();
    }

    /** Puts the bounds within which Redis's clock is in one of the two periods of each calendar limit. */
    static void putBounds(MessageBytes out, List<RequestGroup> groups, long expectedMicros) {
        long expected = expected(expectedMicros);
        List<CalendarPeriod> periods = groups.stream()
                .flatMap(group -> group.first().charges.stream())
                .flatMap(charge -> charge.policy().limits().stream())
                .filter(CalendarLimit.class::isInstance)
                .map(limit -> ((CalendarLimit) limit).period())
                .distinct()
                .toList();
        out.put(periods.stream().mapToLong(each -> start(each, expected)).max().orElseThrow(), TIME);
        out.put(periods.stream().mapToLong(each -> end(each, expected)).min().orElseThrow(), TIME);
    }

    /** Returns the state of a limit as of now, whose section ends at an instant. */
    static LimitState get(MessageBytes in, long end, boolean inDebt) {
        long first = in.get(TIME);
        long latest = in.get(TIME);
        return StoredStates.calendar(first, in.get(PERMITS), latest, end, inDebt);
    }

    /** Returns the instant of a reply. */
    public static long instant(byte[] reply) {
        return MessageBytes.of(reply).get(TIME);
    }

    /** Returns whether nothing was decided because Redis's clock was in none of the periods that were sent. */
    public static boolean isOutsidePeriods(byte[] reply) {
        return reply.length == TIME;
    }
}
