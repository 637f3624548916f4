// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

/** A list of strings with integers as parameters, as RFC 9651 serialises it (3.1, 3.1.2, 3.3.1, 3.3.3). */
final class StructuredList {
    /** The greatest integer of a structured field. */
    static final long MAX_INTEGER = 999_999_999_999_999L;

    private final StringBuilder text = new StringBuilder();

    /**
     * Adds a member.
     *
     * @param value printable ASCII
     * @throws IllegalArgumentException if the string cannot be sent
     */
    StructuredList member(String value) {
        text.append(text.isEmpty() ? "\"" : ", \"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < ' ' || c > '~') {
                throw new IllegalArgumentException("a string of a structured field is printable ASCII");
            }
            if (c == '"' || c == '\\') {
                text.append('\\');
            }
            text.append(c);
        }
        text.append('"');
        return this;
    }

    /**
     * Adds a parameter to the last member.
     *
     * @param key its name, lower case letters
     * @param value 0 or more; one above the greatest integer is sent as that
     */
    StructuredList parameter(String key, long value) {
        text.append(';').append(key).append('=').append(Math.min(value, MAX_INTEGER));
        return this;
    }

    /** The field's value. */
    @Override
    public String toString() {
        return text.toString();
    }
}
