// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/** What holds for a receipt that is given back at once holds for its parts, given back without waiting. */
public abstract class PartialGiveBackContract extends BackendFixture implements GiveBackContract {
    @Override
    final RateLimitBackend decorated(RateLimitBackend backend) {
        return new PartialGiveBacks(backend);
    }
}
