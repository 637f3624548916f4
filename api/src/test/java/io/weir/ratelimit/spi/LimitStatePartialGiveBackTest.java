// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

final class LimitStatePartialGiveBackTest extends PartialGiveBackContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LimitStateBackend(time);
    }
}
