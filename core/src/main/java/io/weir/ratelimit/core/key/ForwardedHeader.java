// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import org.jspecify.annotations.Nullable;

/** A header to which each proxy appends the address of its peer. */
public enum ForwardedHeader {
    /** {@code X-Forwarded-For}: addresses separated by commas. */
    X_FORWARDED_FOR("x-forwarded-for") {
        @Override
        int start(String line, int end) {
            return line.lastIndexOf(',', end - 1) + 1;
        }

        @Override
        @Nullable
        IpAddress address(String line, int start, int end) {
            int first = start;
            int last = end;
            while (first < last && ForwardedElement.isBlank(line.charAt(first))) {
                first++;
            }
            while (first < last && ForwardedElement.isBlank(line.charAt(last - 1))) {
                last--;
            }
            return HopAddress.read(line, first, last, false);
        }
    },

    /** {@code Forwarded}, RFC 7239. */
    FORWARDED("forwarded") {
        @Override
        int start(String line, int end) {
            return ForwardedElement.start(line, end);
        }

        @Override
        @Nullable
        IpAddress address(String line, int start, int end) {
            return ForwardedElement.read(line, start, end);
        }
    };

    private final String fieldName;

    ForwardedHeader(String fieldName) {
        this.fieldName = fieldName;
    }

    /** Returns the name of the header in configuration, in lower case. */
    public String fieldName() {
        return fieldName;
    }

    /** Returns the start of the last element of a line before a position, −1 if the quotes are not in pairs. */
    abstract int start(String line, int end);

    /** Returns the address of an element, null if it is not a literal address. */
    abstract @Nullable IpAddress address(String line, int start, int end);
}
