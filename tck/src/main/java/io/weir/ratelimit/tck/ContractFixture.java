// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;

/** The backend, the clock and the keys of a contract test. */
interface ContractFixture {
    /** Returns the backend. */
    TestedBackend backend();

    /** Returns the clock of the backend. */
    ManualTime time();

    /** Returns a new key. */
    default TestKey key() {
        return TestKey.fresh(backend());
    }

    /** Returns a limit whose permits can be spent at once; a leaky bucket has a burst for that. */
    default Limit limitOf(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, Math.max(1, permits))
                : Limit.of(algorithm, permits, window);
    }
}
