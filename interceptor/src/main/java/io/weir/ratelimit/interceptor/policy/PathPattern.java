// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A path of configuration: {@code /api/search}, {@code /api/orgs/{org}}, {@code /api/admin/*}. A segment in braces stands for any
 * one segment, a star at the end for any number of them, none included. Upper and lower case differ, a slash at the end does not
 * matter.
 */
public final class PathPattern {
    private static final Pattern TEMPLATE = Pattern.compile("\\{\\w[\\w.-]*}");
    private static final String STAR = "*";

    /** Ranks of segments: of two paths that match, the one with the greater text of ranks is the more specific. */
    private static final char WILD = 'a';

    private static final char ANY = 'b';
    private static final char LITERAL = 'c';
    private static final char END = 'd';

    private final String text;
    private final List<String> segments;
    private final String ranks;

    private PathPattern(String text, List<String> segments, String ranks) {
        this.text = text;
        this.segments = List.copyOf(segments);
        this.ranks = ranks;
    }

    /**
     * Reads a path.
     *
     * @param text the path, with its leading slash and without the context root
     * @return the path
     * @throws IllegalArgumentException if it has another form
     */
    public static PathPattern parse(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is no path: it begins with a slash, such as /api/search");
        }
        List<String> segments = new ArrayList<>();
        StringBuilder ranks = new StringBuilder();
        String bare = text.substring(1, Math.max(1, text.endsWith("/") ? text.length() - 1 : text.length()));
        String[] parts = bare.isEmpty() ? new String[0] : bare.split("/", -1);
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            if (part.equals(STAR) && i == parts.length - 1) {
                ranks.append(WILD);
            } else if (TEMPLATE.matcher(part).matches()) {
                segments.add(STAR);
                ranks.append(ANY);
            } else if (part.isEmpty() || part.matches(".*[*{}?#;%\\s\"].*")) {
                throw new IllegalArgumentException(
                        "\"" + text + "\": the segment \"" + part
                                + "\" is neither a plain text, written as it reads when decoded, nor {name}, nor a * at the end");
            } else {
                segments.add(part);
                ranks.append(LITERAL);
            }
        }
        if (ranks.isEmpty() || ranks.charAt(ranks.length() - 1) != WILD) {
            ranks.append(END);
        }
        return new PathPattern(text, segments, ranks.toString());
    }

    /**
     * Whether a request's path is one of these.
     *
     * @param path the request's path
     * @return true if it matches
     */
    public boolean matches(RequestPath path) {
        List<String> sent = path.segments();
        boolean open = ranks.charAt(ranks.length() - 1) == WILD;
        if (open ? sent.size() < segments.size() : sent.size() != segments.size()) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            if (ranks.charAt(i) == LITERAL && !segments.get(i).equals(sent.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Of the paths that match, the one that says most: the first segment that is a text, a template or a star decides. */
    static Optional<PathPattern> mostSpecific(Collection<PathPattern> paths, RequestPath path) {
        PathPattern best = null;
        for (PathPattern each : paths) {
            if (each.matches(path) && (best == null || each.ranks.compareTo(best.ranks) > 0)) {
                best = each;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Whether both match the same requests, whatever their templates are called. */
    @Override
    public boolean equals(Object other) {
        return other instanceof PathPattern that && segments.equals(that.segments) && ranks.equals(that.ranks);
    }

    @Override
    public int hashCode() {
        return 31 * segments.hashCode() + ranks.hashCode();
    }

    /** The path as it was written. */
    @Override
    public String toString() {
        return text;
    }
}
