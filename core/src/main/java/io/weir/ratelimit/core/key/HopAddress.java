// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import org.jspecify.annotations.Nullable;

/** A parser of the address of a hop as a proxy writes it, with or without a port. */
final class HopAddress {
    private HopAddress() {}

    /**
     * Parses the address in a part of a text. Returns null if it is not a literal address.
     *
     * @param bareIpv6 whether an IPv6 address may have no brackets; such an address has no port
     */
    static @Nullable IpAddress read(String text, int start, int end, boolean bareIpv6) {
        IpAddress ipv4 = IpAddress.readIpv4(text, start, end);
        if (ipv4 != null) {
            return ipv4;
        }
        if (start < end && text.charAt(start) == '[') {
            int close = indexOf(text, ']', start, end);
            return close == end || !isPortOrNothing(text, close + 1, end)
                    ? null
                    : IpAddress.readIpv6(text, start + 1, close);
        }
        int colon = indexOf(text, ':', start, end);
        if (colon < end && indexOf(text, ':', colon + 1, end) < end) {
            return bareIpv6 ? IpAddress.readIpv6(text, start, end) : null;
        }
        return isPortOrNothing(text, colon, end) ? IpAddress.readIpv4(text, start, colon) : null;
    }

    private static boolean isPortOrNothing(String text, int start, int end) {
        if (start == end) {
            return true;
        }
        int digits = end - start - 1;
        if (text.charAt(start) != ':' || digits < 1 || digits > 5) {
            return false;
        }
        for (int i = start + 1; i < end; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
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
