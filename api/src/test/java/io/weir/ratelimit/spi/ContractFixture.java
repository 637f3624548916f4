// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;

/** What every part of the contract has at hand. */
interface ContractFixture {
    RateLimitBackend backend();

    /** The clock that the backend goes by. */
    ManualTime time();

    /** A fresh key with each call. */
    default TestKey key() {
        return TestKey.fresh(backend());
    }

    /** A limit whose permits can all be spent at once: a leaky bucket needs a burst for that. */
    default Limit limitOf(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, Math.max(1, permits))
                : Limit.of(algorithm, permits, window);
    }
}
