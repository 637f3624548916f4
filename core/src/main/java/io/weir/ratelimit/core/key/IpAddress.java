// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A literal IP address, never a host name. An IPv4-mapped IPv6 address is an IPv4 address. A zone is dropped.
 *
 * <p>The canonical text of IPv6 follows RFC 5952: lower case, with the longest run of zero groups shortened.
 *
 * @param high the first 64 of the 128 bits; for an IPv4 address, those of its IPv6 form {@code ::ffff:0:0/96}
 */
public record IpAddress(long high, long low) {
    static final int BITS = 128;
    /** The number of bits before the address in the IPv6 form of an IPv4 address. */
    static final int MAPPED_BITS = 96;

    private static final int GROUPS = 8;
    private static final long MAPPED = 0xffff_0000_0000L;

    /** The first 64 bits of {@code 64:ff9b::/96}, by which a translator shows an IPv4 address (RFC 6052). */
    private static final long TRANSLATED = 0x0064_ff9b_0000_0000L;

    /** The first 16 bits of an address of 6to4, which has the IPv4 address of its site in the next 32 bits (RFC 3056). */
    private static final long TUNNELED = 0x2002;

    private static final long NONE = -1;

    /** Parses a literal, such as {@code 203.0.113.7}, {@code 2001:db8::1}, {@code fe80::1%eth0}; empty if the text has another form. */
    public static Optional<IpAddress> parse(String text) {
        return Optional.ofNullable(read(text, 0, text.length()));
    }

    /** Parses the address of a peer as a server writes it: a literal, also with brackets or a port. */
    static Optional<IpAddress> ofPeer(String text) {
        return parse(text).or(() -> HopAddress.parse(text));
    }

    /** Parses a part of a text as {@link #parse} does. Returns null if it has another form. */
    static @Nullable IpAddress read(String text, int start, int end) {
        return looksLikeIpv6(text, start, end) ? readIpv6(text, start, end) : readIpv4(text, start, end);
    }

    /** Parses an IPv4 address. Returns null if the text has another form. */
    static @Nullable IpAddress readIpv4(String text, int start, int end) {
        long value = ipv4(text, start, end);
        return value == NONE ? null : new IpAddress(0, MAPPED | value);
    }

    /** Tests for a colon in the first five characters, because the first group of an IPv6 address has at most four digits. */
    private static boolean looksLikeIpv6(String text, int start, int end) {
        for (int i = start; i < Math.min(end, start + 5); i++) {
            if (text.charAt(i) == ':') {
                return true;
            }
        }
        return false;
    }

    /** Returns the value of an IPv4 address, or {@link #NONE}. */
    private static long ipv4(String text, int start, int end) {
        long value = 0;
        int at = start;
        for (int part = 0; part < 4; part++) {
            if (part > 0 && (at >= end || text.charAt(at++) != '.')) {
                return NONE;
            }
            int first = at;
            int octet = 0;
            while (at < end && at - first <= 3) {
                int digit = text.charAt(at) - '0';
                if (digit < 0 || digit > 9) {
                    break;
                }
                octet = 10 * octet + digit;
                at++;
            }
            // A leading zero is ambiguous, because some parsers read an octal number.
            if (at == first || octet > 255 || (at - first > 1 && text.charAt(first) == '0')) {
                return NONE;
            }
            value = value << 8 | octet;
        }
        return at == end ? value : NONE;
    }

    /** Parses an IPv6 address. Returns null if the text has another form. */
    static @Nullable IpAddress readIpv6(String text, int start, int end) {
        Groups groups = new Groups();
        int at = start;
        if (text.startsWith("::", at) && end - at >= 2) {
            groups.gap();
            at += 2;
        }
        while (at < end && text.charAt(at) != '%') {
            int first = at;
            int value = 0;
            while (at < end && at - first <= 4) {
                int digit = hex(text.charAt(at));
                if (digit < 0) {
                    break;
                }
                value = value << 4 | digit;
                at++;
            }
            if (at < end && text.charAt(at) == '.') {
                return groups.isEndedBy(text, first, end) ? groups.address() : null;
            }
            if (at == first || at - first > 4 || !groups.add(value)) {
                return null;
            }
            if (at < end && text.charAt(at) == ':') {
                at++;
                if (at < end && text.charAt(at) == ':') {
                    if (!groups.gap()) {
                        return null;
                    }
                    at++;
                } else if (at == end || text.charAt(at) == '%') {
                    return null;
                }
            } else if (at < end && text.charAt(at) != '%') {
                return null;
            }
        }
        return groups.address();
    }

    private static int hex(char c) {
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        int letter = c | 0x20;
        return letter >= 'a' && letter <= 'f' && c < 128 ? letter - 'a' + 10 : -1;
    }

    /**
     * The groups of an IPv6 address during parsing. Groups before the gap belong to its start, and groups after the gap to its
     * end.
     */
    private static final class Groups {
        private long high;
        private long low;
        private long tailHigh;
        private long tailLow;
        private int count;
        private boolean hasGap;

        boolean gap() {
            boolean first = !hasGap;
            hasGap = true;
            return first;
        }

        boolean add(long value) {
            if (count == GROUPS) {
                return false;
            }
            if (hasGap) {
                tailHigh = tailHigh << 16 | tailLow >>> 48;
                tailLow = tailLow << 16 | value;
            } else if (count < GROUPS / 2) {
                high |= value << (48 - 16 * count);
            } else {
                low |= value << (48 - 16 * (count - GROUPS / 2));
            }
            count++;
            return true;
        }

        /** Adds the IPv4 address that ends an IPv6 address, before the zone. Returns false if it is invalid. */
        boolean isEndedBy(String text, int start, int end) {
            int at = start;
            while (at < end && text.charAt(at) != '%') {
                at++;
            }
            long value = ipv4(text, start, at);
            return value != NONE && add(value >>> 16) && add(value & 0xffff);
        }

        @Nullable
        IpAddress address() {
            boolean complete = hasGap ? count < GROUPS : count == GROUPS;
            return complete ? new IpAddress(high | tailHigh, low | tailLow) : null;
        }
    }

    /** Tests for {@code ::} and {@code 0.0.0.0}, which are the address of no host. */
    boolean isUnspecified() {
        return high == 0 && (low == 0 || low == MAPPED);
    }

    boolean isIpv4() {
        return high == 0 && low >>> 32 == MAPPED >>> 32;
    }

    /** Returns this address with zeros after the leading bits. For an IPv4 address, the bits are those of its IPv6 form. */
    IpAddress first(int bits) {
        return new IpAddress(high & mask(bits), low & mask(bits - Long.SIZE));
    }

    private static long mask(int bits) {
        return bits <= 0 ? 0 : bits >= Long.SIZE ? -1 : -1L << (Long.SIZE - bits);
    }

    /** Tests whether both addresses have the same leading bits. For an IPv4 address, the bits are those of its IPv6 form. */
    boolean shares(int bits, IpAddress other) {
        return ((high ^ other.high) & mask(bits)) == 0 && ((low ^ other.low) & mask(bits - Long.SIZE)) == 0;
    }

    /**
     * Returns the text of the addresses that share a key with this address: the address itself, or a prefix such as {@code 2001:db8::/64},
     * by the number of leading bits that share a key. An address that a translator or a tunnel has made of an IPv4 address shares the key
     * of the latter.
     */
    public String sharing(int ipv4Prefix, int ipv6Prefix) {
        if (high == TRANSLATED && low >>> Integer.SIZE == 0) {
            return new IpAddress(0, MAPPED | low).sharing(ipv4Prefix, ipv6Prefix);
        }
        if (high >>> 48 == TUNNELED) {
            return new IpAddress(0, MAPPED | (high >>> 16 & 0xffff_ffffL)).sharing(ipv4Prefix, ipv6Prefix);
        }
        int prefix = isIpv4() ? MAPPED_BITS + ipv4Prefix : ipv6Prefix;
        return prefix >= BITS ? toString() : first(prefix) + "/" + (isIpv4() ? ipv4Prefix : ipv6Prefix);
    }

    @Override
    public String toString() {
        if (isIpv4()) {
            return (low >>> 24 & 0xff) + "." + (low >>> 16 & 0xff) + "." + (low >>> 8 & 0xff) + "." + (low & 0xff);
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
        long half = index < GROUPS / 2 ? high : low;
        return (int) (half >>> (48 - 16 * (index % (GROUPS / 2)))) & 0xffff;
    }
}
