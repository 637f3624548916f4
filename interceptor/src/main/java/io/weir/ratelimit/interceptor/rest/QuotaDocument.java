// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;

/** The JSON document with the quotas of a caller. */
final class QuotaDocument {
    private QuotaDocument() {}

    /** Returns the document of the quotas of some policies by name. */
    static String of(Map<String, List<Quota>> quotas) {
        return new JsonObject()
                .withObjects(
                        "policies",
                        quotas.entrySet().stream()
                                .map(policy -> policy(policy.getKey(), policy.getValue()))
                                .toList())
                .toString();
    }

    private static JsonObject policy(String name, List<Quota> quotas) {
        return new JsonObject()
                .with("name", name)
                .withObjects("limits", quotas.stream().map(QuotaDocument::limit).toList());
    }

    private static JsonObject limit(Quota quota) {
        JsonObject limit = new JsonObject()
                .with("name", quota.name())
                .with("permits", quota.permits())
                .withNumber("window", seconds(quota.window()))
                .with("unit", quota.isConcurrency() ? "concurrent-requests" : "requests")
                .with("capacity", quota.capacity())
                .with("remaining", quota.remaining());
        if (quota.isConcurrency()) { // nobody knows when a call ends
            return limit;
        }
        limit.with("reset", QuotaView.ceilSeconds(quota.resetAfterMicros()));
        ZonedDateTime periodEnd = quota.periodEnd();
        return periodEnd == null
                ? limit
                : limit.with("period_end", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(periodEnd));
    }

    /** Returns seconds, with a fraction only if there is one. */
    private static String seconds(Duration window) {
        return BigDecimal.valueOf(window.toMillis(), 3).stripTrailingZeros().toPlainString();
    }
}
