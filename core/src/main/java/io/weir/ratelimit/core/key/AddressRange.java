// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A range of addresses of one family that begin with the same bits, such as {@code 10.0.0.0/8}. */
public final class AddressRange {
    private final IpAddress first;
    /** The number of leading bits; for an IPv4 range, in the IPv6 form of its addresses. */
    private final int bits;

    private AddressRange(IpAddress first, int bits) {
        this.first = first;
        this.bits = bits;
    }

    /**
     * Parses an address, or an address with a number of leading bits: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, {@code ::1}.
     * {@code 0.0.0.0/0} and {@code ::/0} contain all addresses of their family.
     *
     * @throws IllegalArgumentException if the text has another form, or has bits after the leading bits
     */
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        IpAddress first = Optional.of(address)
                .filter(literal -> literal.indexOf('%') < 0)
                .flatMap(IpAddress::parse)
                .orElseThrow(() -> new IllegalArgumentException("\"" + text
                        + "\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32"));
        int offset = address.indexOf(':') < 0 ? IpAddress.MAPPED_BITS : 0;
        int minimum = first.isIpv4() ? IpAddress.MAPPED_BITS - offset : 0;
        int maximum = IpAddress.BITS - offset;
        String prefix = slash < 0 ? Integer.toString(maximum) : text.substring(slash + 1);
        if (!prefix.matches("[0-9]{1,3}") || Integer.parseInt(prefix) < minimum || Integer.parseInt(prefix) > maximum) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" needs a number of bits from " + minimum + " to " + maximum + " after the slash");
        }
        AddressRange range = new AddressRange(first, offset + Integer.parseInt(prefix));
        IpAddress expected = first.first(range.bits);
        if (!first.equals(expected)) {
            throw new IllegalArgumentException("\"" + text + "\" has bits after the first " + prefix + ": write "
                    + new AddressRange(expected, range.bits));
        }
        return range;
    }

    /**
     * Parses one or more ranges that commas separate.
     *
     * @throws IllegalArgumentException with all problems, if an entry is invalid
     */
    public static List<AddressRange> parseAll(String text) {
        List<String> entries =
                Arrays.stream(text.split(",", -1)).map(String::strip).toList();
        List<String> wrong =
                entries.stream().flatMap(entry -> problem(entry).stream()).toList();
        if (!wrong.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", wrong));
        }
        return entries.stream().map(AddressRange::parse).toList();
    }

    private static Optional<String> problem(String entry) {
        try {
            parse(entry);
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }

    /** Tests whether an address is in the range; false for an address of the other family. */
    public boolean contains(IpAddress address) {
        return first.isIpv4() == address.isIpv4() && first.shares(bits, address);
    }

    /** Tests whether all addresses of another range are in this range. */
    public boolean contains(AddressRange other) {
        return bits <= other.bits && contains(other.first);
    }

    /** Returns the canonical text, always with the number of bits. */
    @Override
    public String toString() {
        return first + "/" + (first.isIpv4() ? bits - IpAddress.MAPPED_BITS : bits);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AddressRange that && bits == that.bits && first.equals(that.first);
    }

    @Override
    public int hashCode() {
        return Objects.hash(first, bits);
    }
}
