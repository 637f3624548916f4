// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The addresses that begin with the same bits, such as {@code 10.0.0.0/8}; of one family. */
public final class AddressRange {
    private final IpAddress first;
    /** Of an IPv4 range those of its IPv6 form. */
    private final int bits;

    private AddressRange(IpAddress first, int bits) {
        this.first = first;
        this.bits = bits;
    }

    /**
     * Reads a range.
     *
     * @param text a literal address, or one with the number of bits that count: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, {@code
     *     ::1}; {@code 0.0.0.0/0} and {@code ::/0} are all addresses of their family
     * @return the range
     * @throws IllegalArgumentException if it is something else, or has bits after those that count
     */
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        IpAddress first = Optional.of(address)
                .filter(literal -> literal.indexOf('%') < 0)
                .flatMap(IpAddress::parse)
                .orElseThrow(() -> new IllegalArgumentException("\"" + text
                        + "\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32"));
        int before = address.indexOf(':') < 0 ? IpAddress.MAPPED_BITS : 0;
        int least = first.isIpv4() ? IpAddress.MAPPED_BITS - before : 0;
        int most = IpAddress.BITS - before;
        String prefix = slash < 0 ? Integer.toString(most) : text.substring(slash + 1);
        if (!prefix.matches("[0-9]{1,3}") || Integer.parseInt(prefix) < least || Integer.parseInt(prefix) > most) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" needs a number of bits from " + least + " to " + most + " after the slash");
        }
        AddressRange range = new AddressRange(first, before + Integer.parseInt(prefix));
        IpAddress expected = first.first(range.bits);
        if (!first.equals(expected)) {
            throw new IllegalArgumentException("\"" + text + "\" has bits after the first " + prefix + ": write "
                    + new AddressRange(expected, range.bits));
        }
        return range;
    }

    /**
     * Reads several ranges.
     *
     * @param text ranges separated by commas
     * @return the ranges in order, one or more
     * @throws IllegalArgumentException with all that is wrong, if one is none
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

    /**
     * Whether an address is one of the range.
     *
     * @param address the address
     * @return false also for an address of the other family
     */
    public boolean contains(IpAddress address) {
        return first.isIpv4() == address.isIpv4() && first.shares(bits, address);
    }

    /** The canonical text, always with the number of bits. */
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
