// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.limit.CalendarState;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;

/** The parts of calendar limits in the argument and the reply of {@code acquire.lua}. The header of the script describes them. */
final class CalendarCodec {
    /** The number of bytes of a calendar limit in the argument. */
    static final int BYTES = 33;

    /** By how much the expected instant can be ahead of Redis's clock, so that its period has a start that is early enough. */
    private static final long AHEAD_MICROS = 1_000_000;

    private static final int TIME = 7;
    private static final int PERMITS = 6;

    private CalendarCodec() {}

    /**
     * Puts a calendar limit with two periods. The first one contains the instant that is expected, or has ended a short time before it.
     * Redis's clock shows no time before {@link CalendarBounds#ORIGIN}.
     */
    static void put(MessageBytes out, Limit limit, CalendarPeriod period, long expectedMicros) {
        long expected = Math.max(0, expectedMicros - AHEAD_MICROS);
        CalendarBounds first = CalendarBounds.at(period, expected);
        out.put(LimitLetter.of(limit), 1);
        out.put(limit.windowMicros() / 1_000, 5);
        out.put(limit.permits(), PERMITS);
        out.put(Math.max(0, first.startMicros()), TIME);
        out.put(first.endMicros(), TIME);
        out.put(CalendarBounds.after(period, expected).endMicros(), TIME);
    }

    /** Returns the state of a limit as of now. Only a debt counts more than the permits. */
    static CalendarState get(MessageBytes in, Limit limit) {
        long first = in.get(TIME);
        long spent = in.get(PERMITS);
        return new CalendarState(first, spent, in.get(TIME), in.get(TIME), spent > limit.permits());
    }

    /** Returns the instant of a reply. */
    static long instant(byte[] reply) {
        return MessageBytes.of(reply).get(TIME);
    }

    /** Returns whether nothing was decided because Redis's clock was in none of the periods that were sent. */
    static boolean isOutsidePeriods(byte[] reply) {
        return reply.length == TIME;
    }
}
