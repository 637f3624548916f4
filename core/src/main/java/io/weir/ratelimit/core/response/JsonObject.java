// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import java.util.List;
import java.util.stream.Collectors;

/** A writer for a JSON object (RFC 8259). Weir has its own writer, because a server can lack a JSON library. */
public final class JsonObject {
    private final StringBuilder text = new StringBuilder("{");

    /** Creates an object without members. */
    public JsonObject() {}

    /** Adds a string. */
    public JsonObject with(String name, String value) {
        return member(name, quoted(value));
    }

    /** Adds an integer. */
    public JsonObject with(String name, long value) {
        return member(name, String.valueOf(value));
    }

    /** Adds an array of strings. */
    public JsonObject with(String name, List<String> values) {
        return member(name, values.stream().map(JsonObject::quoted).collect(Collectors.joining(",", "[", "]")));
    }

    /** Adds a number whose text is valid JSON. */
    public JsonObject withNumber(String name, String number) {
        return member(name, number);
    }

    /** Adds an array of objects. */
    public JsonObject withObjects(String name, List<JsonObject> objects) {
        return member(name, objects.stream().map(JsonObject::toString).collect(Collectors.joining(",", "[", "]")));
    }

    private JsonObject member(String name, String json) {
        text.append(text.length() == 1 ? "" : ",")
                .append(quoted(name))
                .append(':')
                .append(json);
        return this;
    }

    private static String quoted(String value) {
        StringBuilder quoted = new StringBuilder(value.length() + 2).append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    @Override
    public String toString() {
        return text + "}";
    }
}
