// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A parser of the address of a hop as a proxy or a server writes it, with or without a port. */
final class HopAddress {
    private HopAddress() {}

    /** Parses an address that is no node of RFC 7239. */
    static Optional<IpAddress> parse(String text) {
        return Optional.ofNullable(read(text, 0, text.length(), false));
    }

    /**
     * Parses the address in a part of a text. Returns null if it is not a literal address. An IPv6 address without brackets has no port.
     * RFC 7239 requires the brackets, and some proxies omit them. The port of a node of RFC 7239 may be obfuscated.
     */
    static @Nullable IpAddress read(String text, int start, int end, boolean isNode) {
        IpAddress ipv4 = IpAddress.readIpv4(text, start, end);
        if (ipv4 != null) {
            return ipv4;
        }
        if (start < end && text.charAt(start) == '[') {
            int close = indexOf(text, ']', start, end);
            return close == end || !isPortOrNothing(text, close + 1, end, isNode)
                    ? null
                    : IpAddress.readIpv6(text, start + 1, close);
        }
        int colon = indexOf(text, ':', start, end);
        if (colon < end && indexOf(text, ':', colon + 1, end) < end) {
            return IpAddress.readIpv6(text, start, end);
        }
        return isPortOrNothing(text, colon, end, isNode) ? IpAddress.readIpv4(text, start, colon) : null;
    }

    private static boolean isPortOrNothing(String text, int start, int end, boolean isNode) {
        if (start == end) {
            return true;
        }
        int first = start + 1;
        if (text.charAt(start) != ':' || first == end) {
            return false;
        }
        boolean obfuscated = isNode && text.charAt(first) == '_';
        return obfuscated ? isObfuscated(text, first + 1, end) : isNumber(text, first, end);
    }

    private static boolean isNumber(String text, int start, int end) {
        if (end - start > 5) {
            return false;
        }
        for (int i = start; i < end; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /** Tests the characters after the first of an {@code obfport} of RFC 7239, section 6. */
    private static boolean isObfuscated(String text, int start, int end) {
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            char lower = (char) (c | 0x20);
            if ((lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-') {
                return false;
            }
        }
        return start < end;
    }

    /** Returns the index of a character in a part of a text, or the end of the part. */
    private static int indexOf(String text, char wanted, int start, int end) {
        int at = start;
        while (at < end && text.charAt(at) != wanted) {
            at++;
        }
        return at;
    }
}
