// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.Collection;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A name without its quotes, and an attribute of it, from {@code api.limit} or {@code "Class.method".limit}. */
public record QuotedName(String name, String attribute) {
    /** Splits a text; empty if a part is missing. A name that contains dots is in quotes. */
    public static Optional<QuotedName> parse(String text) {
        int start = text.startsWith("\"") ? 1 : 0;
        int end = text.indexOf(start == 1 ? "\"." : ".", start);
        int attribute = end + 1 + start;
        return end <= start || attribute >= text.length()
                ? Optional.empty()
                : Optional.of(new QuotedName(text.substring(start, end), text.substring(attribute)));
    }

    /** Splits a text like {@link #parse(String)}. Its format may have lost the quotes around the name of a known policy. */
    static Optional<QuotedName> parse(String text, Collection<String> known) {
        Optional<QuotedName> first = parse(text);
        return first.filter(parts -> !parts.isOfPolicy())
                .flatMap(parts -> parts.longer()
                        .filter(name -> known.contains(name.name()))
                        .findFirst())
                .or(() -> first);
    }

    /**
     * Returns the shortest longer name before an attribute of a policy, which was probably meant; empty if this is an attribute, or if
     * there is none.
     */
    public Optional<QuotedName> dotted() {
        return isOfPolicy() ? Optional.empty() : longer().findFirst();
    }

    private boolean isOfPolicy() {
        return ConfigKeys.isPolicyAttribute(attribute);
    }

    /** Moves parts of the attribute to the name, one after the other, and keeps those with an attribute of a policy. */
    private Stream<QuotedName> longer() {
        return IntStream.range(0, attribute.length())
                .filter(at -> attribute.charAt(at) == '.')
                .mapToObj(at -> new QuotedName(name + "." + attribute.substring(0, at), attribute.substring(at + 1)))
                .filter(QuotedName::isOfPolicy);
    }

    /** Removes the quotes around a name, if it has quotes. */
    public static String unquoted(String text) {
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
    }
}
