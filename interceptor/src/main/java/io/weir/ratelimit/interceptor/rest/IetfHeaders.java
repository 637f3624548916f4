// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import java.util.function.BiConsumer;

/**
 * {@code RateLimit-Policy} and {@code RateLimit}, draft-ietf-httpapi-ratelimit-headers-11: lists of strings with parameters, as
 * RFC 9651 serialises them. Names of policies are printable ASCII without quotes or backslashes, so they need no escape.
 */
final class IetfHeaders implements HeaderDialect {
    private static final String POLICY_FIELD = "RateLimit-Policy";
    private static final String LIMIT_FIELD = "RateLimit";
    private static final String QUOTA = ";q=";
    private static final String WINDOW = ";w=";
    private static final String REMAINING = ";r=";
    private static final String RESET = ";t=";

    @Override
    public String mark() {
        return LIMIT_FIELD;
    }

    @Override
    public void write(QuotaView view, BiConsumer<String, String> fields) {
        StringBuilder policies = new StringBuilder();
        for (Quota quota : view.quotas()) {
            policies.append(policies.isEmpty() ? "" : ", ");
            name(policies, quota).append(QUOTA).append(quota.permits());
            // A window is a whole number of seconds above zero: a shorter one cannot be said.
            if (quota.window().toMillis() >= 1_000) {
                policies.append(WINDOW)
                        .append(QuotaView.ceilSeconds(quota.window().toMillis() * 1_000));
            }
        }
        fields.accept(POLICY_FIELD, policies.toString());
        Quota decisive = view.decisive();
        StringBuilder limit =
                name(new StringBuilder(), decisive).append(REMAINING).append(decisive.remaining());
        if (!decisive.refused()) {
            limit.append(RESET).append(QuotaView.ceilSeconds(decisive.growsAfterMicros()));
        } else if (decisive.retryAfterMicros() != Quota.NEVER) {
            limit.append(RESET).append(Refusals.waitSeconds(decisive.retryAfterMicros()));
        }
        fields.accept(LIMIT_FIELD, limit.toString());
    }

    private static StringBuilder name(StringBuilder text, Quota quota) {
        return text.append('"').append(quota.name()).append('"');
    }
}
