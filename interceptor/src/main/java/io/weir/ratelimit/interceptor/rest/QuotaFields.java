// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.stream.Stream;

/** The header fields of an answer that tell a client its quotas, in the dialects that configuration names. */
record QuotaFields(List<HeaderDialect> dialects) {
    QuotaFields {
        dialects = List.copyOf(dialects);
    }

    /** Writes each dialect that the answer does not have yet. */
    void write(QuotaView view, MultivaluedMap<String, Object> fields) {
        for (HeaderDialect dialect : dialects) {
            if (!fields.containsKey(dialect.names().get(0))) {
                dialect.write(view, fields::putSingle);
            }
        }
    }

    /** All that a client may want to read of a decision. */
    Stream<String> names() {
        return Stream.concat(
                dialects.stream().flatMap(dialect -> dialect.names().stream()), Stream.of(HttpHeaders.RETRY_AFTER));
    }
}
