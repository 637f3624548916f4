// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The path of a request below the application's context root, in the one form that rules are compared with: what routes requests
 * decodes segments, drops matrix parameters and may take {@code //} for {@code /}, so no such spelling leads past a rule.
 *
 * @param segments the decoded segments, without empty ones
 */
public record RequestPath(List<String> segments) {
    /** Copies the list. */
    public RequestPath {
        segments = List.copyOf(segments);
    }

    /**
     * Reads a path.
     *
     * @param raw the path as it was sent, without the context root
     * @return its segments
     */
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

    /** The text with percent-encoded UTF-8 decoded; what is not well formed stays as it is. */
    private static String decoded(String segment) {
        int percent = segment.indexOf('%');
        if (percent < 0) {
            return segment;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(segment.length());
        byte[] sent = segment.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < sent.length; i++) {
            int high = i + 2 < sent.length && sent[i] == '%' ? Character.digit(sent[i + 1], 16) : -1;
            int low = high < 0 ? -1 : Character.digit(sent[i + 2], 16);
            bytes.write(low < 0 ? sent[i] : high << 4 | low);
            i += low < 0 ? 0 : 2;
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
