// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/** The header fields of the dialects, as a client has to know them. */
final class QuotaHeaders {
    private static final Map<String, List<Field>> DIALECTS = Map.of(
            "ietf",
            List.of(
                    new Field("RateLimit-Policy", SchemaType.STRING, "The limits that apply: q permits in w seconds."),
                    new Field(
                            "RateLimit",
                            SchemaType.STRING,
                            "The limit with the least left: r permits now, more of them in t seconds.")),
            "draft-06",
            List.of(
                    new Field("RateLimit-Limit", SchemaType.INTEGER, "The permits of the limit with the least left."),
                    new Field("RateLimit-Remaining", SchemaType.INTEGER, "The permits that are left of it."),
                    new Field("RateLimit-Reset", SchemaType.INTEGER, "The seconds until all of them are back.")),
            "legacy",
            List.of(
                    new Field("X-RateLimit-Limit", SchemaType.INTEGER, "The permits of the limit with the least left."),
                    new Field("X-RateLimit-Remaining", SchemaType.INTEGER, "The permits that are left of it."),
                    new Field(
                            "X-RateLimit-Reset",
                            SchemaType.INTEGER,
                            "When all of them are back, in seconds since the epoch.")));

    /** The wait that a refusal tells. */
    static final Field RETRY_AFTER =
            new Field("Retry-After", SchemaType.INTEGER, "The seconds after which the call can be let in, 1 or more.");

    private QuotaHeaders() {}

    /**
     * A header field.
     *
     * @param name its name
     * @param type the type of its value
     * @param description what it tells
     */
    record Field(String name, SchemaType type, String description) {}

    /** The fields of dialects, by the names that {@code ratelimit.headers} has for these. */
    static List<Field> of(List<String> dialects) {
        return dialects.stream()
                .flatMap(dialect -> DIALECTS.getOrDefault(dialect, List.of()).stream())
                .toList();
    }
}
