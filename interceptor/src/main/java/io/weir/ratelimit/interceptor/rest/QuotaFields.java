// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;

/** The header fields of an answer that tell a client its quotas, in the dialects that configuration names. */
record QuotaFields(List<HeaderDialect> dialects) {
    QuotaFields {
        dialects = List.copyOf(dialects);
    }

    /** Writes each dialect that the answer does not have yet. */
    void write(QuotaView view, MultivaluedMap<String, Object> fields) {
        for (HeaderDialect dialect : dialects) {
            if (!fields.containsKey(dialect.mark())) {
                dialect.write(view, fields::putSingle);
            }
        }
    }
}
