// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.response.QuotaView;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.stream.Stream;

/** The response header fields with the quotas of a client, in the configured dialects. */
record QuotaFields(List<QuotaView.Dialect> dialects) {
    QuotaFields {
        dialects = List.copyOf(dialects);
    }

    /** Writes each dialect that the response does not have yet. */
    void write(QuotaView view, MultivaluedMap<String, Object> fields) {
        for (QuotaView.Dialect dialect : dialects) {
            if (!fields.containsKey(dialect.names().get(0))) {
                dialect.write(view, fields::putSingle);
            }
        }
    }

    /** Returns the names of all fields about a decision. */
    Stream<String> names() {
        return Stream.concat(
                dialects.stream().flatMap(dialect -> dialect.names().stream()), Stream.of(HttpHeaders.RETRY_AFTER));
    }
}
