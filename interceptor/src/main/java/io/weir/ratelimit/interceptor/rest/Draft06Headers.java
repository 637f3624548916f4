// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import java.util.function.BiConsumer;

/** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset} in seconds from now, of draft-ietf-httpapi-ratelimit-headers-06. */
final class Draft06Headers implements HeaderDialect {
    private static final String LIMIT_FIELD = "RateLimit-Limit";

    @Override
    public String mark() {
        return LIMIT_FIELD;
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        Quota quota = view.decisive();
        fields.accept(LIMIT_FIELD, String.valueOf(quota.permits()));
        fields.accept("RateLimit-Remaining", String.valueOf(quota.remaining()));
        fields.accept("RateLimit-Reset", String.valueOf(QuotaView.ceilSeconds(quota.resetAfterMicros())));
    }
}
