// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.response.JsonObject;
import io.weir.ratelimit.core.response.QuotaView;
import java.math.BigDecimal;
import java.time.Duration;
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
                .with("unit", quota.kind() == Quota.Kind.CONCURRENCY ? "concurrent-requests" : "requests")
                .with("capacity", quota.capacity())
                .with("remaining", quota.remaining());
        if (quota.kind() == Quota.Kind.CONCURRENCY) { // nobody knows when a call ends
            return limit;
        }
        limit.with("reset", QuotaView.ceilSeconds(Micros.resetAfter(quota)));
        quota.periodEnd()
                .ifPresent(end -> limit.with("period_end", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(end)));
        return limit;
    }

    /** Returns seconds, with a fraction only if there is one. */
    private static String seconds(Duration window) {
        return BigDecimal.valueOf(window.toMillis(), 3).stripTrailingZeros().toPlainString();
    }
}
