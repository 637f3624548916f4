// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import java.util.function.BiConsumer;

/** {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset} in seconds since the epoch by this server's clock. */
final class LegacyHeaders implements HeaderDialect {
    private static final String LIMIT_FIELD = "X-RateLimit-Limit";

    @Override
    public String mark() {
        return LIMIT_FIELD;
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        Quota quota = view.decisive();
        long reset = view.nowSeconds() + QuotaView.ceilSeconds(quota.resetAfterMicros());
        fields.accept(LIMIT_FIELD, String.valueOf(quota.permits()));
        fields.accept("X-RateLimit-Remaining", String.valueOf(quota.remaining()));
        fields.accept("X-RateLimit-Reset", String.valueOf(reset));
    }
}
