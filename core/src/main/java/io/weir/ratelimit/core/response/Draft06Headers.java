// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.function.BiConsumer;

/** The fields of draft-ietf-httpapi-ratelimit-headers-06. {@code RateLimit-Reset} has the seconds from now. */
final class Draft06Headers implements QuotaView.Dialect {
    private static final String LIMIT_FIELD = "RateLimit-Limit";
    private static final String REMAINING_FIELD = "RateLimit-Remaining";
    private static final String RESET_FIELD = "RateLimit-Reset";

    @Override
    public List<String> names() {
        return List.of(LIMIT_FIELD, REMAINING_FIELD, RESET_FIELD);
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        Quota quota = view.decisive();
        fields.accept(LIMIT_FIELD, String.valueOf(quota.permits()));
        fields.accept(REMAINING_FIELD, String.valueOf(quota.remaining()));
        view.resetMicros()
                .ifPresent(micros -> fields.accept(RESET_FIELD, String.valueOf(QuotaView.ceilSeconds(micros))));
    }
}
