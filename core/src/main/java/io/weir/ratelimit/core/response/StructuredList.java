// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

/** A serializer for a list of strings with integer parameters (RFC 9651, 3.1, 3.1.2, 3.3.1, 3.3.3). */
final class StructuredList {
    /** The greatest integer of a structured field. */
    static final long MAX_INTEGER = 999_999_999_999_999L;

    private final StringBuilder text = new StringBuilder();

    /** Adds a member in printable ASCII. Throws an {@link IllegalArgumentException} if it cannot be sent. */
    StructuredList member(String value) {
        text.append(text.isEmpty() ? "" : ", ");
        string(value);
        return this;
    }

    /**
     * Adds a parameter in printable ASCII, with a key in lower case, to the last member. Throws an {@link IllegalArgumentException} if it
     * cannot be sent.
     */
    StructuredList parameter(String key, String value) {
        text.append(';').append(key).append('=');
        string(value);
        return this;
    }

    private void string(String value) {
        text.append('"');
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
    }

    /** Adds a parameter, 0 or more, to the last member; a greater value than {@link #MAX_INTEGER} is sent as that maximum. */
    StructuredList parameter(String key, long value) {
        text.append(';').append(key).append('=').append(Math.min(value, MAX_INTEGER));
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
