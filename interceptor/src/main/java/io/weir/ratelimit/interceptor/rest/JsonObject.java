// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import java.util.List;
import java.util.stream.Collectors;

/** A writer for a JSON object (RFC 8259). This module has its own writer, because a server can lack a JSON library. */
final class JsonObject {
    private final StringBuilder text = new StringBuilder("{");

    JsonObject with(String name, String value) {
        return member(name, quoted(value));
    }

    JsonObject with(String name, long value) {
        return member(name, String.valueOf(value));
    }

    JsonObject with(String name, List<String> values) {
        return member(name, values.stream().map(JsonObject::quoted).collect(Collectors.joining(",", "[", "]")));
    }

    /** Adds a number whose text is valid JSON. */
    JsonObject withNumber(String name, String number) {
        return member(name, number);
    }

    JsonObject withObjects(String name, List<JsonObject> objects) {
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
