// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Reads a JSON object (RFC 8259) whose values are texts and arrays of texts, and nothing else. Each name must come once; nothing may follow the object.
 * Written here since an application need not have a library for it.
 */
final class FlatJson {
    private final String text;
    private int at;

    private FlatJson(String text) {
        this.text = text;
    }

    /**
     * Reads an object.
     *
     * @param text the JSON
     * @return the values by name: each a {@code String} or a {@code List} of such
     * @throws IllegalArgumentException if it is anything else
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
                    throw wrong("a name comes twice");
                }
            } while (goesOn('}'));
        }
        skipBlanks();
        if (at != text.length()) {
            throw wrong("something follows the object");
        }
        return members;
    }

    private Object value() {
        if (!ends('[', false)) {
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
            } while (goesOn(']'));
        }
        return List.copyOf(elements);
    }

    /** Whether another member or element follows. */
    private boolean goesOn(char end) {
        if (ends(end)) {
            return false;
        }
        expect(',');
        return true;
    }

    private boolean ends(char end) {
        return ends(end, true);
    }

    private boolean ends(char end, boolean take) {
        skipBlanks();
        boolean there = at < text.length() && text.charAt(at) == end;
        at += there && take ? 1 : 0;
        return there;
    }

    private void expect(char wanted) {
        skipBlanks();
        if (next() != wanted) {
            at--;
            throw wrong("there is no " + wanted);
        }
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw wrong("it ends too early");
        }
        return text.charAt(at++);
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') {
                throw wrong("a text has a control character");
            }
            string.append(c == '\\' ? escaped() : c);
        }
        if (!wellFormed(string)) {
            throw wrong("a text has half a character");
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
            default -> throw wrong("there is no such escape");
        };
    }

    private char hexadecimal() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            char c = next();
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw wrong("an escape has four hexadecimal digits");
            }
            value = value << 4 | digit;
        }
        return (char) value;
    }

    /** Whether each half of a character has its other half. */
    private static boolean wellFormed(CharSequence text) {
        return text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException("this is not the JSON that is expected: " + what + ", at character " + at);
    }
}
