// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/** What every part of the contract has at hand. */
interface ContractFixture {
    RateLimitBackend backend();

    /** The clock that the backend goes by. */
    ManualTime time();

    /** A fresh key with each call. */
    default TestKey key() {
        return TestKey.fresh(backend());
    }
}
