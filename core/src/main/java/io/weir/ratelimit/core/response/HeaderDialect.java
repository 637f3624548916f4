// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/** A set of response header fields that tell a client its quotas. */
public interface HeaderDialect {
    /** The dialects by their names in the settings. */
    Map<String, HeaderDialect> ALL =
            Map.of("draft-11", new Draft11Headers(), "draft-06", new Draft06Headers(), "legacy", new LegacyHeaders());

    /** Returns the names of the fields. A response has the first field only if this dialect was written. */
    List<String> names();

    /** Writes the fields to a consumer of names and values. */
    void write(QuotaView view, BiConsumer<String, String> fields);

    /** Returns the dialects with the given names. */
    static List<HeaderDialect> named(List<String> names) {
        return names.stream().map(ALL::get).filter(Objects::nonNull).toList();
    }
}
