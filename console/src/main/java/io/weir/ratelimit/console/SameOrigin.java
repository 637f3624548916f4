// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells a page's own requests from those that another site makes a browser send. */
final class SameOrigin {
    private static final String HOST = "(\\[[0-9a-fA-F:.]{2,45}]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?";
    private static final Pattern ORIGIN = Pattern.compile("(?i)(https?)://" + HOST);
    private static final Pattern AUTHORITY = Pattern.compile(HOST);

    private SameOrigin() {}

    /**
     * Whether a request comes from a page of the origin that it goes to: by what the browser says of that where it does, else by
     * {@code Origin} and {@code Host}. A request that says nothing does not.
     *
     * @param headers the values of a header field by its name, in order
     * @return whether it does
     */
    static boolean sent(Function<String, List<String>> headers) {
        List<String> site = headers.apply("Sec-Fetch-Site");
        if (!site.isEmpty()) {
            return site.equals(List.of("same-origin"));
        }
        Optional<Matcher> origin = only(headers.apply("Origin"), ORIGIN);
        Optional<Matcher> host = only(headers.apply("Host"), AUTHORITY);
        if (origin.isEmpty() || host.isEmpty()) {
            return false;
        }
        String usual = origin.get().group(1).equalsIgnoreCase("https") ? "443" : "80";
        return authority(origin.get().group(2), origin.get().group(3), usual)
                .equals(authority(host.get().group(1), host.get().group(2), usual));
    }

    private static Optional<Matcher> only(List<String> values, Pattern form) {
        return values.size() == 1
                ? Optional.of(form.matcher(values.get(0))).filter(Matcher::matches)
                : Optional.empty();
    }

    private static String authority(String host, String port, String usual) {
        return host.toLowerCase(Locale.ROOT) + ":" + (port == null ? usual : port);
    }
}
