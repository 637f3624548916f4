// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The path of a request below the context root, in the normal form that path patterns match. Segments are decoded, not empty and without
 * matrix parameters, and {@code //} is {@code /}, as in the routing of requests. Otherwise another spelling could avoid a limit.
 */
public record RequestPath(List<String> segments) {
    public RequestPath {
        segments = List.copyOf(segments);
    }

    /** Parses the path of a request line, without the context root. */
    public static RequestPath of(String raw) {
        List<String> segments = new ArrayList<>();
        int start = 0;
        while (start < raw.length()) {
            int end = raw.indexOf('/', start);
            end = end < 0 ? raw.length() : end;
            String whole = raw.substring(start, end);
            int parameters = whole.indexOf(';');
            String segment = parameters < 0 ? whole : whole.substring(0, parameters);
            if (!segment.isEmpty()) {
                segments.add(decoded(segment));
            }
            start = end + 1;
        }
        return new RequestPath(segments);
    }

    /** Decodes percent-encoded UTF-8. An invalid escape stays unchanged. */
    private static String decoded(String segment) {
        int percent = segment.indexOf('%');
        if (percent < 0) {
            return segment;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(segment.length());
        byte[] encoded = segment.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < encoded.length; i++) {
            int high = i + 2 < encoded.length && encoded[i] == '%' ? Character.digit(encoded[i + 1], 16) : -1;
            int low = high < 0 ? -1 : Character.digit(encoded[i + 2], 16);
            bytes.write(low < 0 ? encoded[i] : high << 4 | low);
            i += low < 0 ? 0 : 2;
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
