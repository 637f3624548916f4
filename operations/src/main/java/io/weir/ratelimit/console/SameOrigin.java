// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A check that a request comes from a page of the same origin, against cross-site request forgery. */
final class SameOrigin {
    private static final String HOST = "(\\[[0-9a-fA-F:.]{2,45}]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?";
    private static final Pattern ORIGIN = Pattern.compile("(?i)(https?)://" + HOST);
    private static final Pattern AUTHORITY = Pattern.compile(HOST);

    private SameOrigin() {}

    /**
     * Returns whether a request comes from a page of the origin of its target. The field {@code Sec-Fetch-Site} determines this if the
     * browser sends it, otherwise {@code Origin} and {@code Host} do. A request without these fields does not match.
     */
    static boolean matches(Function<String, List<String>> headers) {
        List<String> site = headers.apply("Sec-Fetch-Site");
        if (!site.isEmpty()) {
            return site.equals(List.of("same-origin"));
        }
        Optional<Matcher> origin = only(headers.apply("Origin"), ORIGIN);
        Optional<Matcher> host = only(headers.apply("Host"), AUTHORITY);
        if (origin.isEmpty() || host.isEmpty()) {
            return false;
        }
        String defaultPort = origin.get().group(1).equalsIgnoreCase("https") ? "443" : "80";
        return authority(origin.get().group(2), origin.get().group(3), defaultPort)
                .equals(authority(host.get().group(1), host.get().group(2), defaultPort));
    }

    private static Optional<Matcher> only(List<String> values, Pattern form) {
        return values.size() == 1
                ? Optional.of(form.matcher(values.get(0))).filter(Matcher::matches)
                : Optional.empty();
    }

    private static String authority(String host, String port, String defaultPort) {
        return host.toLowerCase(Locale.ROOT) + ":" + (port == null ? defaultPort : port);
    }
}
