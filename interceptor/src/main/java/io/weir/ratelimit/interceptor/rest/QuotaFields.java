// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.response.QuotaView;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The response header fields with the quotas of a client, in the configured dialects. */
record QuotaFields(List<QuotaView.Dialect> dialects) {
    // The header fields of browsers for requests to another origin (Fetch, 3.2).
    static final String EXPOSE = "Access-Control-Expose-Headers";
    private static final String ALLOW = "Access-Control-Allow-Origin";
    private static final String CREDENTIALS = "Access-Control-Allow-Credentials";

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

    /** Exposes the fields of a response to scripts of other origins, if these may read the response. */
    void expose(MultivaluedMap<String, Object> fields) {
        if (!fields.containsKey(ALLOW)) {
            return;
        }
        Set<String> exposed = new LinkedHashSet<>();
        Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        fields.getOrDefault(EXPOSE, List.of()).stream()
                .flatMap(value -> value instanceof Collection<?> several ? several.stream() : Stream.of(value))
                .flatMap(value -> Stream.of(String.valueOf(value).split(",", -1)))
                .map(String::trim)
                .filter(name -> !name.isEmpty() && known.add(name))
                .forEach(exposed::add);
        // With credentials, the star is the name of a field.
        boolean credentials =
                "true".equals(String.valueOf(fields.getFirst(CREDENTIALS)).trim());
        if (known.contains("*") && !credentials) {
            return;
        }
        Stream<String> names = Stream.concat(
                dialects.stream().flatMap(dialect -> dialect.names().stream()), Stream.of(HttpHeaders.RETRY_AFTER));
        if (exposed.addAll(names.filter(fields::containsKey).filter(known::add).toList())) {
            fields.putSingle(EXPOSE, String.join(", ", exposed));
        }
    }
}
