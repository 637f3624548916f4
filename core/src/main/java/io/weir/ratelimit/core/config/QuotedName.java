// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.Optional;

/**
 * A name and an attribute of it, such as {@code api.limit} or {@code "Class.method".limit}.
 *
 * @param name the name without quotes
 * @param attribute the text after the dot that ends the name
 */
public record QuotedName(String name, String attribute) {
    /**
     * Splits a text.
     *
     * @param text the name, in quotes if it contains dots, a dot and the attribute
     * @return the parts; empty if one is missing
     */
    public static Optional<QuotedName> parse(String text) {
        int start = text.startsWith("\"") ? 1 : 0;
        int end = text.indexOf(start == 1 ? "\"." : ".", start);
        int attribute = end + 1 + start;
        return end <= start || attribute >= text.length()
                ? Optional.empty()
                : Optional.of(new QuotedName(text.substring(start, end), text.substring(attribute)));
    }

    /**
     * Removes the quotes around a name.
     *
     * @param text the name, which may have quotes
     * @return the name without them
     */
    public static String unquoted(String text) {
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
    }
}
