// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.history;

import io.weir.ratelimit.FailureMode;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A policy of a run.
 *
 * @param name the name
 * @param form the form of its limit
 * @param permits the permits of the limit, or the number of calls at once
 * @param window the window, or the timeout of slots
 * @param burst the capacity of a bucket; 0 for other forms
 * @param mode the failure mode
 * @param more more properties by their last part, such as {@code lease}
 */
public record Policy(
        String name, Form form, long permits, Duration window, long burst, FailureMode mode, Map<String, String> more) {
    /** The forms of limits. */
    public enum Form {
        FIXED_WINDOW,
        SLIDING_WINDOW,
        SLIDING_LOG,
        TOKEN_BUCKET,
        LEAKY_BUCKET,
        CALENDAR,
        CONCURRENCY
    }

    /** Copies the map. */
    public Policy {
        more = Map.copyOf(more);
    }

    /** Returns the most permits that the documents allow in a span of a number of windows. */
    public long mostIn(int windows, long limit, long capacity) {
        return switch (form) {
            case FIXED_WINDOW -> (windows + 1) * limit - 1;
            case SLIDING_WINDOW -> (windows + 1) * limit - (limit == 1 ? 1 : windows == 1 ? 2 : 1);
            case SLIDING_LOG -> windows * limit;
            case TOKEN_BUCKET, LEAKY_BUCKET -> capacity + windows * limit - 1;
            case CALENDAR -> (windows + 1) * limit;
            case CONCURRENCY -> throw new IllegalStateException("a concurrency limit has no windows");
        };
    }

    /** Returns whether the policy is in shadow mode. */
    public boolean isShadow() {
        return "shadow".equals(more.get("mode"));
    }

    /** Returns whether the policy has keys of its own, so that a call can have another key under another policy. */
    public boolean hasOwnKeys() {
        return more.containsKey("key");
    }

    /** Returns the properties of the policy. */
    public Map<String, String> properties() {
        Map<String, String> values = new TreeMap<>(more);
        values.put("on-failure", mode.name().toLowerCase(Locale.ROOT));
        values.putIfAbsent("key", "global");
        switch (form) {
            case CONCURRENCY -> {
                values.put("concurrency", String.valueOf(permits));
                values.put("concurrency-timeout", window.toSeconds() + "s");
            }
            case CALENDAR -> values.put("limit", permits + "/minute");
            default -> {
                values.put("limit", permits + "/" + window.toMillis() + "ms");
                values.put("algorithm", form.name().toLowerCase(Locale.ROOT).replace('_', '-'));
            }
        }
        if (burst > 0) {
            values.put("burst", String.valueOf(burst));
        }
        Map<String, String> named = new TreeMap<>();
        values.forEach((last, value) -> named.put("ratelimit.policies." + name + "." + last, value));
        return named;
    }
}
