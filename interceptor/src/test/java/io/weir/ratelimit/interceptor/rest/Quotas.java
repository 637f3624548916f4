// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.fixtures.TestQuota;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Quotas, and the header fields that a dialect writes for them. */
final class Quotas {
    static final long NOW_SECONDS = 1_714_592_383;
    static final long NOW_MICROS = 1_000_000 * NOW_SECONDS;

    private Quotas() {}

    static Quota allowed(
            String name, long permits, Duration window, long remaining, long growsMicros, long resetMicros) {
        return TestQuota.of(
                name.replaceAll("-1[smhd]$", ""),
                name,
                permits,
                permits,
                window,
                remaining,
                false,
                0,
                resetMicros,
                growsMicros);
    }

    static Quota rejected(String name, long permits, Duration window, long waitMicros, long resetMicros) {
        return TestQuota.of(
                name.replaceAll("-1[smhd]$", ""),
                name,
                permits,
                permits,
                window,
                0,
                true,
                waitMicros,
                resetMicros,
                waitMicros);
    }

    /** Returns the fields of a dialect, each as {@code name: value}. */
    static List<String> fields(String dialect, QuotaView view) {
        Map<String, String> fields = new LinkedHashMap<>();
        QuotaView.Dialect.named(List.of(dialect)).get(0).write(view, (name, value) -> {
            if (fields.put(name, value) != null) {
                throw new AssertionError(name + " written twice");
            }
        });
        return fields.entrySet().stream()
                .map(field -> field.getKey() + ": " + field.getValue())
                .toList();
    }
}
