// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/** A way to tell a client its quotas in response header fields. */
interface HeaderDialect {
    /** The dialects by the names that {@code ratelimit.headers} uses. */
    Map<String, HeaderDialect> ALL =
            Map.of("ietf", new IetfHeaders(), "draft-06", new Draft06Headers(), "legacy", new LegacyHeaders());

    /** Its fields, first the one that an answer carries only if this dialect was written. */
    List<String> names();

    /** Writes the fields. */
    void write(QuotaView view, BiConsumer<String, String> fields);

    /** The dialects that configuration names. */
    static List<HeaderDialect> named(List<String> names) {
        return names.stream().map(ALL::get).filter(Objects::nonNull).toList();
    }
}
