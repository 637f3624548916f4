// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import java.util.List;
import java.util.function.BiConsumer;

/** The fields {@code RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-11. */
final class Draft11Headers implements QuotaView.Dialect {
    private static final String POLICY_FIELD = "RateLimit-Policy";
    private static final String LIMIT_FIELD = "RateLimit";
    private static final String QUOTA = "q";
    private static final String UNIT = "qu";
    private static final String CONCURRENT_REQUESTS = "concurrent-requests";
    private static final String WINDOW = "w";
    private static final String REMAINING = "r";
    private static final String RESET = "t";

    @Override
    public List<String> names() {
        return List.of(LIMIT_FIELD, POLICY_FIELD);
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        StructuredList policies = new StructuredList();
        for (Quota quota : view.quotas()) {
            policies.member(quota.name()).parameter(QUOTA, quota.permits());
            if (quota.kind() == Quota.Kind.CONCURRENCY) {
                policies.parameter(UNIT, CONCURRENT_REQUESTS);
            }
            // The unit is a second, and zero is not valid, so a shorter window is omitted.
            if (quota.window().toMillis() >= 1_000) {
                policies.parameter(WINDOW, QuotaView.ceilSeconds(quota.window().toMillis() * 1_000));
            }
        }
        fields.accept(POLICY_FIELD, policies.toString());
        Quota decisive = view.decisive();
        StructuredList limit = new StructuredList().member(decisive.name()).parameter(REMAINING, decisive.remaining());
        if (!decisive.rejected() && decisive.kind() == Quota.Kind.CONCURRENCY) {
            // Nobody knows when a call ends.
            fields.accept(LIMIT_FIELD, limit.toString());
            return;
        }
        if (!decisive.rejected()) {
            limit.parameter(RESET, QuotaView.ceilSeconds(Micros.nextPermitAfter(decisive)));
        } else {
            decisive.retryAfter().ifPresent(wait -> limit.parameter(RESET, QuotaView.waitSeconds(Micros.of(wait))));
        }
        fields.accept(LIMIT_FIELD, limit.toString());
    }
}
