// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A writer for JSON (RFC 8259) in ASCII. Weir has its own writer, because a server can lack a JSON library. */
public final class JsonText {
    private JsonText() {}

    /**
     * Returns a value as JSON text: a string, an integer, a finite or decimal number, a boolean, a map with string keys, a collection, or
     * an optional of one of these. An empty optional becomes {@code null}.
     */
    public static String of(Object value) {
        StringBuilder text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    private static void write(Object value, StringBuilder text) {
        if (value instanceof String string) {
            quote(string, text);
        } else if (value instanceof Long || value instanceof Integer || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof Double number) {
            text.append(String.format(Locale.ROOT, "%.4f", number));
        } else if (value instanceof BigDecimal number) {
            text.append(number.toPlainString());
        } else if (value instanceof Map<?, ?> object) {
            writeMembers(object, text);
        } else if (value instanceof Collection<?> array) {
            writeElements(array, text);
        } else if (value instanceof Optional<?> optional) {
            optional.ifPresentOrElse(present -> write(present, text), () -> text.append("null"));
        } else {
            throw new IllegalArgumentException("no JSON representation of " + value.getClass());
        }
    }

    private static void writeMembers(Map<?, ?> object, StringBuilder text) {
        char before = '{';
        for (Map.Entry<?, ?> member : object.entrySet()) {
            text.append(before);
            quote((String) member.getKey(), text);
            text.append(':');
            write(member.getValue(), text);
            before = ',';
        }
        text.append(object.isEmpty() ? "{}" : "}");
    }

    private static void writeElements(Collection<?> array, StringBuilder text) {
        char before = '[';
        for (Object element : array) {
            text.append(before);
            write(element, text);
            before = ',';
        }
        text.append(array.isEmpty() ? "[]" : "]");
    }

    private static void quote(String value, StringBuilder text) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~' || c == '<') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
