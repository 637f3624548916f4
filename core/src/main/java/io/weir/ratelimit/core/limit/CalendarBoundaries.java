// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

/** The instants at which the periods of a calendar begin. All instants are in seconds since 1970-01-01T00:00:00Z. */
sealed interface CalendarBoundaries permits ClockBoundaries, DateBoundaries {
    /** Returns the latest boundary that is not after an instant. */
    long latest(long epochSecond);

    /** Returns the first boundary after an instant. */
    long after(long epochSecond);
}
