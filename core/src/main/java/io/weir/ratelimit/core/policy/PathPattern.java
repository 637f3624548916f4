// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A pattern of paths: {@code /api/search}, {@code /api/orgs/{org}}, {@code /api/admin/*}. A segment in braces matches any one
 * segment. A star at the end matches any number of segments, also none. The case matters, a slash at the end does not.
 */
public final class PathPattern {
    private static final Pattern TEMPLATE = Pattern.compile("\\{\\w[\\w.-]*}");
    private static final String STAR = "*";

    /** The ranks of segments. Of two patterns that match, the one with the greater text of ranks is more specific. */
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
     * Parses a pattern with its leading slash, without the context root.
     *
     * @throws IllegalArgumentException if the text has another form
     */
    public static PathPattern parse(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a path: begin it with a slash, for example /api/search");
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
                throw new IllegalArgumentException("\"" + text + "\": the segment \"" + part
                        + "\" must be a decoded text, {name}, or * at the end");
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

    public boolean matches(RequestPath path) {
        List<String> requested = path.segments();
        boolean open = ranks.charAt(ranks.length() - 1) == WILD;
        if (open ? requested.size() < segments.size() : requested.size() != segments.size()) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            if (ranks.charAt(i) == LITERAL && !segments.get(i).equals(requested.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Tests whether each path that another pattern matches matches this one as well. */
    boolean covers(PathPattern other) {
        boolean open = ranks.charAt(ranks.length() - 1) == WILD;
        boolean otherOpen = other.ranks.charAt(other.ranks.length() - 1) == WILD;
        int size = segments.size();
        if (open ? other.segments.size() < size : otherOpen || other.segments.size() != size) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            boolean same = other.ranks.charAt(i) == LITERAL && segments.get(i).equals(other.segments.get(i));
            if (ranks.charAt(i) == LITERAL && !same) {
                return false;
            }
        }
        return true;
    }

    /** Tests whether a path at or below another one can match. */
    public boolean reaches(RequestPath prefix) {
        List<String> beginning = prefix.segments();
        for (int i = 0; i < beginning.size(); i++) {
            if (i == segments.size()) {
                return ranks.charAt(i) == WILD;
            }
            if (ranks.charAt(i) == LITERAL && !segments.get(i).equals(beginning.get(i))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the most specific pattern that matches. In the first segment that differs, a text precedes a template, and a
     * template precedes a star.
     */
    static Optional<PathPattern> mostSpecific(Collection<PathPattern> paths, RequestPath path) {
        PathPattern best = null;
        for (PathPattern each : paths) {
            if (each.matches(path) && (best == null || each.ranks.compareTo(best.ranks) > 0)) {
                best = each;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Compares the patterns without the names of their templates. */
    @Override
    public boolean equals(Object other) {
        return other instanceof PathPattern that && segments.equals(that.segments) && ranks.equals(that.ranks);
    }

    @Override
    public int hashCode() {
        return 31 * segments.hashCode() + ranks.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
