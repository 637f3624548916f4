// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.MultivaluedMap;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The header fields of browsers for requests to another origin (Fetch, 3.2). */
final class Cors {
    static final String EXPOSE = "Access-Control-Expose-Headers";

    private static final String ALLOW = "Access-Control-Allow-Origin";

    private static final String CREDENTIALS = "Access-Control-Allow-Credentials";

    private Cors() {}

    /** Exposes the fields of a response to scripts of other origins, if these may read the response. */
    static void expose(QuotaFields quotas, MultivaluedMap<String, Object> fields) {
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
        if (known.contains("*") && !hasCredentials(fields)) {
            return;
        }
        boolean added = false;
        for (String name : quotas.names().filter(fields::containsKey).toList()) {
            if (known.add(name)) {
                added = true;
                exposed.add(name);
            }
        }
        if (added) {
            fields.putSingle(EXPOSE, String.join(", ", exposed));
        }
    }

    private static boolean hasCredentials(MultivaluedMap<String, Object> fields) {
        return "true".equals(String.valueOf(fields.getFirst(CREDENTIALS)).trim());
    }
}
