// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/** The descriptions of the header fields of each dialect. */
final class QuotaHeaders {
    private static final Map<String, List<Field>> DIALECTS = Map.of(
            "draft-11",
            List.of(
                    new Field(
                            "RateLimit-Policy",
                            SchemaType.STRING,
                            "The limits that apply: q permits in w seconds, or q calls at once if qu is concurrent-requests."),
                    new Field(
                            "RateLimit",
                            SchemaType.STRING,
                            "The limit closest to exhaustion: r permits remain, and more are available in t seconds.")),
            "draft-06",
            List.of(
                    new Field("RateLimit-Limit", SchemaType.INTEGER, "The permits of the limit closest to exhaustion."),
                    new Field("RateLimit-Remaining", SchemaType.INTEGER, "The remaining permits of this limit."),
                    new Field("RateLimit-Reset", SchemaType.INTEGER, "The seconds until all permits are available.")),
            "legacy",
            List.of(
                    new Field(
                            "X-RateLimit-Limit", SchemaType.INTEGER, "The permits of the limit closest to exhaustion."),
                    new Field("X-RateLimit-Remaining", SchemaType.INTEGER, "The remaining permits of this limit."),
                    new Field(
                            "X-RateLimit-Reset",
                            SchemaType.INTEGER,
                            "The time at which all permits are available, in seconds since the epoch.")));

    /** The wait after a rejection. */
    static final Field RETRY_AFTER =
            new Field("Retry-After", SchemaType.INTEGER, "The seconds after which the call can be allowed, 1 or more.");

    private QuotaHeaders() {}

    record Field(String name, SchemaType type, String description) {}

    /** Returns the fields of dialects, which are named as in the settings. */
    static List<Field> of(List<String> dialects) {
        return dialects.stream()
                .flatMap(dialect -> DIALECTS.getOrDefault(dialect, List.of()).stream())
                .toList();
    }
}
