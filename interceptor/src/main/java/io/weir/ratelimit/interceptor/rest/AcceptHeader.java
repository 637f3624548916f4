// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.core.HttpHeaders;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The media types that a client accepts (RFC 9110, 12.5.1), the most preferred first; empty if it accepts any type. */
record AcceptHeader(List<Range> ranges) {
    /** The header of a client that accepts any type. */
    static final AcceptHeader ANYTHING = new AcceptHeader(List.of());

    private static final int MAX_CHARACTERS = 16_384;
    private static final int MAX_RANGES = 100;
    private static final Pattern RANGE = Pattern.compile("[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+");
    private static final Pattern QUALITY = Pattern.compile("q=(1(\\.0{0,3})?|0?\\.[0-9]{0,3}|0)");

    /**
     * A media range, in lower case. Its type or subtype can be a star, and its quality is the weight in thousandths.
     *
     * @param parameters whether the range has parameters except the character set; such a range matches no body of this library
     */
    record Range(String type, String subtype, boolean parameters, int quality) {
        /** Returns the specificity of the match with a type, 0 if the range does not match. */
        private int specificity(String ofType, String ofSubtype) {
            if (type.equals("*")) {
                return 1;
            }
            if (!type.equals(ofType) || parameters) {
                return 0;
            }
            return subtype.equals("*") ? 2 : subtype.equals(ofSubtype) ? 3 : 0;
        }

        @Override
        public String toString() {
            return type + "/" + subtype;
        }
    }

    AcceptHeader {
        ranges = List.copyOf(ranges);
    }

    /** Reads the header of the current request; any type if the thread serves none, because the object of the server then fails. */
    static AcceptHeader of(@Nullable HttpHeaders headers) {
        try {
            return parse(headers == null ? null : headers.getRequestHeader(HttpHeaders.ACCEPT));
        } catch (RuntimeException e) {
            return ANYTHING;
        }
    }

    /**
     * Parses the lines of a header, if there are any. Members that are not media ranges are ignored. A header that is too long or has too
     * many members is ignored as a whole.
     */
    static AcceptHeader parse(@Nullable Collection<String> lines) {
        if (lines == null || lines.stream().mapToInt(String::length).sum() > MAX_CHARACTERS) {
            return ANYTHING;
        }
        List<Range> ranges = new ArrayList<>();
        for (String line : lines) {
            for (String member : split(line, ',')) {
                range(member, ranges);
                if (ranges.size() > MAX_RANGES) {
                    return ANYTHING;
                }
            }
        }
        ranges.sort(Comparator.comparingInt(Range::quality).reversed());
        return new AcceptHeader(ranges);
    }

    private static void range(String member, List<Range> ranges) {
        List<String> parts = split(member, ';');
        // Some old clients send a single star.
        String name =
                parts.get(0).trim().equals("*") ? "*/*" : parts.get(0).trim().toLowerCase(Locale.ROOT);
        if (!RANGE.matcher(name).matches() || (name.startsWith("*/") && !name.equals("*/*"))) {
            return;
        }
        int quality = 1_000;
        boolean parameters = false;
        for (String part : parts.subList(1, parts.size())) {
            String parameter = part.trim().toLowerCase(Locale.ROOT);
            if (parameter.startsWith("q=")) {
                if (!QUALITY.matcher(parameter).matches()) {
                    return;
                }
                quality = (int) Math.round(Double.parseDouble("0" + parameter.substring(2)) * 1_000);
            } else {
                parameters |= !parameter.isEmpty() && !parameter.startsWith("charset=");
            }
        }
        int slash = name.indexOf('/');
        ranges.add(new Range(name.substring(0, slash), name.substring(slash + 1), parameters, quality));
    }

    /** Splits a text at the separators outside of quotes. */
    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == separator && !quoted) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    /** Returns the weight of a type in thousandths, by the most specific range that matches it; 0 if the type is not accepted. */
    int quality(String type, String subtype) {
        if (ranges.isEmpty()) {
            return 1_000;
        }
        int specificity = 0;
        int quality = 0;
        for (Range range : ranges) {
            int current = range.specificity(type, subtype);
            if (current > specificity) {
                specificity = current;
                quality = range.quality();
            }
        }
        return quality;
    }

    /** Returns the accepted types, the most preferred first. */
    List<String> names() {
        return ranges.stream()
                .filter(range -> range.quality() > 0)
                .map(Range::toString)
                .toList();
    }
}
