// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/** The clock of a backend. A test can replace it. */
@FunctionalInterface
public interface TimeSource {
    /**
     * Returns the current time.
     *
     * @return microseconds since an arbitrary origin, 0 or more; the value can step back. For {@linkplain CalendarLimit calendar limits},
     *     the origin is 2025-01-01T00:00:00Z
     */
    long micros();
}
