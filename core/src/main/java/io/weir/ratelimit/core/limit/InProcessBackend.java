// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.List;
import java.util.function.Supplier;

/** A backend in the process of its caller. Its decisions are so fast that a read of the clock or a search for a key counts. */
public interface InProcessBackend extends RateLimitBackend {
    /**
     * Returns the instant of a decision by the clock of the process, so that its caller need not read the clock again.
     *
     * @return the instant, by {@link System#nanoTime}
     */
    long atNanos(ChargedResults results);

    /**
     * Returns the acquire of charges, which many calls can repeat. It may remember where the state of a key is.
     *
     * @return decides and spends as {@link #acquire}, each time
     */
    default Supplier<Decision> acquireOf(List<Charge> charges) {
        return () -> acquire(charges);
    }
}
