// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A parser for a JSON object (RFC 8259) whose values are strings and arrays of strings. Names must be unique, and only white space may
 * follow the object. The console has its own parser, because a server can lack a JSON library.
 */
final class FlatJson {
    private final String text;
    private int at;

    private FlatJson(String text) {
        this.text = text;
    }

    /**
     * Parses an object into values by name, each a {@code String} or a {@code List} of strings.
     *
     * @throws IllegalArgumentException if the text is anything else
     */
    static Map<String, Object> parse(String text) {
        return new FlatJson(text).object();
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (!ends('}')) {
            do {
                String name = string();
                expect(':');
                if (members.putIfAbsent(name, value()) != null) {
                    throw invalid("a name is not unique");
                }
            } while (continues('}'));
        }
        skipWhiteSpace();
        if (at != text.length()) {
            throw invalid("text follows the object");
        }
        return members;
    }

    private Object value() {
        if (!isNext('[', false)) {
            return string();
        }
        return elements(this::string);
    }

    private List<String> elements(Supplier<String> element) {
        List<String> elements = new ArrayList<>();
        expect('[');
        if (!ends(']')) {
            do {
                elements.add(element.get());
            } while (continues(']'));
        }
        return List.copyOf(elements);
    }

    /** Returns whether another member or element follows, and consumes the separator or the end. */
    private boolean continues(char end) {
        if (ends(end)) {
            return false;
        }
        expect(',');
        return true;
    }

    private boolean ends(char end) {
        return isNext(end, true);
    }

    private boolean isNext(char end, boolean consume) {
        skipWhiteSpace();
        boolean isNext = at < text.length() && text.charAt(at) == end;
        at += isNext && consume ? 1 : 0;
        return isNext;
    }

    private void expect(char expected) {
        skipWhiteSpace();
        if (next() != expected) {
            at--;
            throw invalid("expected " + expected);
        }
    }

    private void skipWhiteSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw invalid("unexpected end");
        }
        return text.charAt(at++);
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') {
                throw invalid("a string has a control character");
            }
            string.append(c == '\\' ? escaped() : c);
        }
        if (!isWellFormed(string)) {
            throw invalid("a string has an unpaired surrogate");
        }
        return string.toString();
    }

    private char escaped() {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> hexadecimal();
            default -> throw invalid("unknown escape");
        };
    }

    private char hexadecimal() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            char c = next();
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw invalid("an escape needs four hexadecimal digits");
            }
            value = value << 4 | digit;
        }
        return (char) value;
    }

    /** Returns whether the text has no unpaired surrogate. */
    private static boolean isWellFormed(CharSequence text) {
        return text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private IllegalArgumentException invalid(String problem) {
        return new IllegalArgumentException("invalid JSON: " + problem + ", at character " + at);
    }
}
