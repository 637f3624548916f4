// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/** Where a store takes the time from. A test passes its own. */
@FunctionalInterface
public interface TimeSource {
    /**
     * The time now.
     *
     * @return microseconds since an origin of the source's choice, 0 or more; it may step back
     */
    long micros();
}
