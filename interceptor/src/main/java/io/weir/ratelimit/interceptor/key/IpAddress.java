// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import java.util.Arrays;
import java.util.Optional;

/**
 * A literal IP address. Never looks a name up. IPv4-mapped IPv6 addresses are IPv4; zones are dropped.
 *
 * <p>Canonical text of IPv6 follows RFC 5952: lower case, and the longest run of zero groups shortened.
 */
public final class IpAddress {
    private static final int GROUPS = 8;
    private static final byte[] BAD = new byte[0];
    private static final byte[] NONE = new byte[0];

    private final byte[] bytes;

    private IpAddress(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Reads an address.
     *
     * @param text a literal, such as {@code 203.0.113.7}, {@code 2001:db8::1}, {@code fe80::1%eth0}
     * @return the address, empty if the text is something else
     */
    public static Optional<IpAddress> parse(String text) {
        if (text.indexOf(':') < 0) {
            return ipv4(text).map(IpAddress::new);
        }
        int zone = text.indexOf('%');
        return ipv6(zone < 0 ? text : text.substring(0, zone)).map(IpAddress::unmapped);
    }

    private static IpAddress unmapped(byte[] bytes) {
        for (int i = 0; i < 12; i++) {
            if (bytes[i] != (i < 10 ? 0 : (byte) 0xff)) {
                return new IpAddress(bytes);
            }
        }
        return new IpAddress(Arrays.copyOfRange(bytes, 12, 16));
    }

    private static Optional<byte[]> ipv4(String text) {
        if (text.length() > 15) {
            return Optional.empty();
        }
        byte[] bytes = new byte[4];
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            int end = i < bytes.length - 1 ? text.indexOf('.', start) : text.length();
            int value = end < 0 ? -1 : number(text, start, end, 10, 3);
            // A leading zero means octal to some parsers: ambiguous, so no address.
            if (value < 0 || value > 255 || (end - start > 1 && text.charAt(start) == '0')) {
                return Optional.empty();
            }
            bytes[i] = (byte) value;
            start = end + 1;
        }
        return Optional.of(bytes);
    }

    private static Optional<byte[]> ipv6(String text) {
        if (text.length() > 45) {
            return Optional.empty();
        }
        int gap = text.indexOf("::");
        byte[] head = groups(gap < 0 ? text : text.substring(0, gap), gap < 0);
        byte[] tail = groups(gap < 0 ? "" : text.substring(gap + 2), true);
        int length = head.length + tail.length;
        boolean fits = gap < 0 ? length == 2 * GROUPS && head.length == length : length < 2 * GROUPS;
        if (!fits || head == BAD || tail == BAD) {
            return Optional.empty();
        }
        byte[] bytes = Arrays.copyOf(head, 2 * GROUPS);
        System.arraycopy(tail, 0, bytes, bytes.length - tail.length, tail.length);
        return Optional.of(bytes);
    }

    /** The bytes of groups separated by colons, the last of which may be an IPv4 address at an address's end. */
    private static byte[] groups(String text, boolean atEnd) {
        if (text.isEmpty()) {
            return NONE;
        }
        String[] parts = text.split(":", -1);
        byte[] bytes = new byte[2 * parts.length + 2];
        int length = 0;
        for (int i = 0; i < parts.length; i++) {
            if (atEnd && i == parts.length - 1 && parts[i].indexOf('.') >= 0) {
                byte[] last = ipv4(parts[i]).orElse(BAD);
                if (last == BAD) {
                    return BAD;
                }
                System.arraycopy(last, 0, bytes, length, last.length);
                length += last.length;
            } else {
                int value = number(parts[i], 0, parts[i].length(), 16, 4);
                if (value < 0) {
                    return BAD;
                }
                bytes[length++] = (byte) (value >> 8);
                bytes[length++] = (byte) value;
            }
        }
        return Arrays.copyOf(bytes, length);
    }

    /** The value of digits, or −1 if the text is something else. */
    private static int number(String text, int start, int end, int radix, int mostDigits) {
        if (start == end || end - start > mostDigits) {
            return -1;
        }
        int value = 0;
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            int digit = c < 128 ? Character.digit(c, radix) : -1;
            if (digit < 0) {
                return -1;
            }
            value = value * radix + digit;
        }
        return value;
    }

    /**
     * The canonical text of the addresses that share a key with this one: the address itself, or {@code 2001:db8::/64}.
     *
     * @param ipv4Prefix how many leading bits of an IPv4 address count
     * @param ipv6Prefix how many leading bits of an IPv6 address count
     * @return the text
     */
    public String sharing(int ipv4Prefix, int ipv6Prefix) {
        int prefix = bytes.length == 4 ? ipv4Prefix : ipv6Prefix;
        if (prefix >= bytes.length * 8) {
            return toString();
        }
        byte[] masked = bytes.clone();
        for (int i = 0; i < masked.length; i++) {
            int keep = Math.max(0, Math.min(8, prefix - 8 * i));
            masked[i] &= (byte) (0xff << (8 - keep));
        }
        return new IpAddress(masked) + "/" + prefix;
    }

    /** The canonical text. */
    @Override
    public String toString() {
        if (bytes.length == 4) {
            return (bytes[0] & 0xff) + "." + (bytes[1] & 0xff) + "." + (bytes[2] & 0xff) + "." + (bytes[3] & 0xff);
        }
        int gapStart = -1;
        int gapEnd = -1;
        for (int start = 0; start < GROUPS; start++) {
            int end = start;
            while (end < GROUPS && group(end) == 0) {
                end++;
            }
            if (end - start > Math.max(1, gapEnd - gapStart)) {
                gapStart = start;
                gapEnd = end;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            if (i == gapStart) {
                text.append("::");
                i = gapEnd - 1;
            } else {
                text.append(i == 0 || i == gapEnd ? "" : ":").append(Integer.toHexString(group(i)));
            }
        }
        return text.toString();
    }

    private int group(int index) {
        return (bytes[2 * index] & 0xff) << 8 | (bytes[2 * index + 1] & 0xff);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IpAddress that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
