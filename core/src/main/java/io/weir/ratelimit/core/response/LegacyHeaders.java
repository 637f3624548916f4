// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.function.BiConsumer;

/** The fields {@code X-RateLimit-*}. {@code X-RateLimit-Reset} has the seconds since the epoch by the clock of this server. */
final class LegacyHeaders implements QuotaView.Dialect {
    private static final String LIMIT_FIELD = "X-RateLimit-Limit";
    private static final String REMAINING_FIELD = "X-RateLimit-Remaining";
    private static final String RESET_FIELD = "X-RateLimit-Reset";

    @Override
    public List<String> names() {
        return List.of(LIMIT_FIELD, REMAINING_FIELD, RESET_FIELD);
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        Quota quota = view.decisive();
        fields.accept(LIMIT_FIELD, String.valueOf(quota.permits()));
        fields.accept(REMAINING_FIELD, String.valueOf(quota.remaining()));
        view.resetSeconds().ifPresent(seconds -> fields.accept(RESET_FIELD, String.valueOf(seconds)));
    }
}
