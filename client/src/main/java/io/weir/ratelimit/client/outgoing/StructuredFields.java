// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A parser for lists of named items with parameters (RFC 9651), such as {@code "day";r=100;t=36000}, and for dictionaries. As the standard
 * requires, one wrong character makes the whole field invalid.
 */
final class StructuredFields {
    /** The number of members of a list, as many as the standard requires; a longer list is invalid. */
    static final int MAX_MEMBERS = 1024;

    private static final int MAX_DIGITS = 15;
    private static final int MAX_DIGITS_BEFORE_POINT = 12;
    private static final int MAX_DIGITS_AFTER_POINT = 3;
    private static final int HEXADECIMAL = 16;
    private static final String KEY_MARKS = "_-.*";
    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~:/";

    private final String text;
    private int position;

    private StructuredFields(String text) {
        this.text = text;
    }

    /** A member of a list, with the texts of the parameters that are numbers, dates, strings or tokens. */
    record Item(String name, Map<String, String> parameters) {
        /** Copies the map. */
        Item {
            parameters = Map.copyOf(parameters);
        }
    }

    /** A wrong character, or the end of the text where more is expected. */
    private static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1;

        SyntaxException() {
            super(null, null, false, false);
        }
    }

    /** Parses the members of a list or a dictionary, one by one. */
    private interface Member {
        void parse() throws SyntaxException;
    }

    /** Parses a list. Returns empty if it is invalid. */
    static Optional<List<Item>> list(String text) {
        List<Item> items = new ArrayList<>();
        StructuredFields fields = new StructuredFields(text);
        return fields.isValid(() -> items.add(fields.item())) ? Optional.of(items) : Optional.empty();
    }

    /** Parses a dictionary, without the parameters of its members. Returns empty if it is invalid. */
    static Optional<Map<String, String>> dictionary(String text) {
        Map<String, String> values = new HashMap<>();
        StructuredFields fields = new StructuredFields(text);
        Member member = () -> {
            fields.pair(values);
            fields.parameters();
        };
        return fields.isValid(member) ? Optional.of(values) : Optional.empty();
    }

    private boolean isValid(Member member) {
        try {
            parse(member);
            return true;
        } catch (SyntaxException e) {
            return false;
        }
    }

    private void parse(Member member) throws SyntaxException {
        int members = 0;
        skip(" \t");
        while (position < text.length()) {
            if (members == MAX_MEMBERS) {
                throw new SyntaxException();
            }
            member.parse();
            members++;
            skip(" \t");
            if (position < text.length()) {
                expect(',');
                skip(" \t");
                if (position == text.length()) {
                    throw new SyntaxException();
                }
            }
        }
    }

    private Item item() throws SyntaxException {
        String name = peek() == '"' ? string() : token();
        return new Item(name, parameters());
    }

    private Map<String, String> parameters() throws SyntaxException {
        Map<String, String> parameters = new HashMap<>();
        while (position < text.length() && text.charAt(position) == ';') {
            position++;
            skip(" ");
            pair(parameters);
        }
        return parameters;
    }

    /** Parses a key, and its value if it has one. The last of equal keys applies. */
    private void pair(Map<String, String> values) throws SyntaxException {
        String key = key();
        values.remove(key);
        if (position < text.length() && text.charAt(position) == '=') {
            position++;
            value().ifPresent(value -> values.put(key, value));
        }
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

    /** Parses a value. Returns empty for one that is neither a number, a date, a string nor a token. */
    private Optional<String> value() throws SyntaxException {
        char first = peek();
        if (first == '"') {
            return Optional.of(string());
        }
        if (first == '-' || isDigit(first)) {
            return Optional.of(number());
        }
        if (first == '@') {
            return Optional.of(date());
        }
        if (first == ':') {
            bytes();
        } else if (first == '?') {
            bool();
        } else if (first == '%') {
            displayString();
        } else {
            return Optional.of(token());
        }
        return Optional.empty();
    }

    private void bool() throws SyntaxException {
        position++;
        if (peek() != '0' && peek() != '1') {
            throw new SyntaxException();
        }
        position++;
    }

    private String number() throws SyntaxException {
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
            int fraction = digits();
            if (digits > MAX_DIGITS_BEFORE_POINT || fraction == 0 || fraction > MAX_DIGITS_AFTER_POINT) {
                throw new SyntaxException();
            }
        }
        return text.substring(start, position);
    }

    private String date() throws SyntaxException {
        position++;
        String seconds = number();
        if (seconds.indexOf('.') >= 0) {
            throw new SyntaxException();
        }
        return seconds;
    }

    private void bytes() throws SyntaxException {
        position++;
        int end = text.indexOf(':', position);
        if (end < 0) {
            throw new SyntaxException();
        }
        try {
            Base64.getDecoder().decode(text.substring(position, end));
        } catch (IllegalArgumentException e) {
            throw new SyntaxException();
        }
        position = end + 1;
    }

    /** Parses a string of percent-encoded UTF-8. */
    private void displayString() throws SyntaxException {
        position++;
        expect('"');
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (peek() != '"') {
            if (peek() < ' ' || peek() > '~') {
                throw new SyntaxException();
            }
            if (peek() == '%') {
                position++;
                bytes.write(HEXADECIMAL * hexadecimal() + hexadecimal());
            } else {
                bytes.write(peek());
                position++;
            }
        }
        position++;
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray()));
        } catch (CharacterCodingException e) {
            throw new SyntaxException();
        }
    }

    private int hexadecimal() throws SyntaxException {
        char digit = peek();
        if (!isDigit(digit) && (digit < 'a' || digit > 'f')) {
            throw new SyntaxException();
        }
        position++;
        return Character.digit(digit, HEXADECIMAL);
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
