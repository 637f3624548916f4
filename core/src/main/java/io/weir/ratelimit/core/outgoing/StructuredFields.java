// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.outgoing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A parser for lists of named items with parameters (RFC 9651), such as {@code "day";r=100;t=36000}. As the standard requires, one wrong
 * character makes the whole field invalid.
 */
final class StructuredFields {
    /** The number of members of a list; a longer list is invalid. */
    static final int MAX_MEMBERS = 32;

    private static final int MAX_DIGITS = 15;
    private static final String KEY_MARKS = "_-.*";
    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~:/";

    private final String text;
    private int position;

    private StructuredFields(String text) {
        this.text = text;
    }

    /**
     * A member of a list.
     *
     * @param name the text of the item
     * @param integers the parameters that are integers, by key
     */
    record Item(String name, Map<String, Long> integers) {
        /** Copies the map. */
        Item {
            integers = Map.copyOf(integers);
        }
    }

    /** A wrong character, or the end of the text where more is expected. */
    private static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1;

        SyntaxException() {
            super(null, null, false, false);
        }
    }

    /** Parses a list. Returns empty if it is invalid. */
    static Optional<List<Item>> list(String text) {
        try {
            return Optional.of(new StructuredFields(text).list());
        } catch (SyntaxException e) {
            return Optional.empty();
        }
    }

    private List<Item> list() throws SyntaxException {
        List<Item> items = new ArrayList<>();
        skip(" \t");
        while (position < text.length()) {
            if (items.size() == MAX_MEMBERS) {
                throw new SyntaxException();
            }
            items.add(item());
            skip(" \t");
            if (position < text.length()) {
                expect(',');
                skip(" \t");
                if (position == text.length()) {
                    throw new SyntaxException();
                }
            }
        }
        return items;
    }

    private Item item() throws SyntaxException {
        String name = peek() == '"' ? string() : token();
        Map<String, Long> integers = new HashMap<>();
        while (position < text.length() && text.charAt(position) == ';') {
            position++;
            skip(" ");
            String key = key();
            if (position < text.length() && text.charAt(position) == '=') {
                position++;
                value(key, integers);
            }
        }
        return new Item(name, integers);
    }

    private String key() throws SyntaxException {
        int start = position;
        if (!isLower(peek()) && peek() != '*') {
            throw new SyntaxException();
        }
        while (position < text.length() && (isLower(peek()) || isDigit(peek()) || KEY_MARKS.indexOf(peek()) >= 0)) {
            position++;
        }
        return text.substring(start, position);
    }

    private void value(String key, Map<String, Long> integers) throws SyntaxException {
        char first = peek();
        if (first == '"') {
            string();
        } else if (first == '-' || isDigit(first)) {
            number(key, integers);
        } else if (first == ':') {
            enclosed(':');
        } else if (first == '?') {
            position++;
            if (peek() != '0' && peek() != '1') {
                throw new SyntaxException();
            }
            position++;
        } else {
            token();
        }
    }

    private void number(String key, Map<String, Long> integers) throws SyntaxException {
        int start = position;
        if (peek() == '-') {
            position++;
        }
        int digits = digits();
        if (digits == 0 || digits > MAX_DIGITS) {
            throw new SyntaxException();
        }
        if (position < text.length() && text.charAt(position) == '.') {
            position++;
            if (digits() == 0) {
                throw new SyntaxException();
            }
        } else {
            integers.put(key, Long.valueOf(text.substring(start, position)));
        }
    }

    private int digits() {
        int start = position;
        while (position < text.length() && isDigit(text.charAt(position))) {
            position++;
        }
        return position - start;
    }

    private String token() throws SyntaxException {
        int start = position;
        if (!isLetter(peek()) && peek() != '*') {
            throw new SyntaxException();
        }
        while (position < text.length() && isToken(text.charAt(position))) {
            position++;
        }
        return text.substring(start, position);
    }

    private String string() throws SyntaxException {
        StringBuilder string = new StringBuilder();
        position++;
        while (peek() != '"') {
            if (peek() == '\\') {
                position++;
                if (peek() != '"' && peek() != '\\') {
                    throw new SyntaxException();
                }
            }
            if (peek() < ' ' || peek() > '~') {
                throw new SyntaxException();
            }
            string.append(peek());
            position++;
        }
        position++;
        return string.toString();
    }

    private void enclosed(char mark) throws SyntaxException {
        position++;
        while (peek() != mark) {
            position++;
        }
        position++;
    }

    private char peek() throws SyntaxException {
        if (position >= text.length()) {
            throw new SyntaxException();
        }
        return text.charAt(position);
    }

    private void expect(char expected) throws SyntaxException {
        if (peek() != expected) {
            throw new SyntaxException();
        }
        position++;
    }

    private void skip(String blanks) {
        while (position < text.length() && blanks.indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private static boolean isToken(char c) {
        return isLetter(c) || isDigit(c) || TOKEN_MARKS.indexOf(c) >= 0;
    }

    private static boolean isLetter(char c) {
        return isLower(c) || (c >= 'A' && c <= 'Z');
    }

    private static boolean isLower(char c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
