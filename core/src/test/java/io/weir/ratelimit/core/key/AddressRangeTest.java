// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressRangeTest {
    private static boolean contains(String range, String address) {
        return AddressRange.parse(range).contains(IpAddress.parse(address).orElseThrow());
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.0.0.0, 10.255.255.255, 9.255.255.255, 11.0.0.0",
        "10.0.0.7, 10.0.0.7, 10.0.0.7, 10.0.0.6, 10.0.0.8",
        "10.0.0.7/32, 10.0.0.7, ::ffff:10.0.0.7, 10.0.0.6, 10.0.0.8",
        "10.0.0.6/31, 10.0.0.6, 10.0.0.7, 10.0.0.5, 10.0.0.8",
        "172.16.0.0/12, 172.16.0.0, 172.31.255.255, 172.15.255.255, 172.32.0.0",
        "0.0.0.0/0, 0.0.0.0, 255.255.255.255, ::, ::1",
        "128.0.0.0/1, 128.0.0.0, 255.255.255.255, 127.255.255.255, 8000::",
        "::/0, ::, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 0.0.0.0, ::ffff:10.0.0.1",
        "::1, ::1, ::1, ::, ::2",
        "2001:db8::/32, 2001:db8::, 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff, 2001:db7:ffff::, 2001:db9::",
        "2001:db8::/63, 2001:db8::, 2001:db8:0:1:ffff::, 2001:db8:0:2::, 2001:db7::",
        "2001:db8::/65, 2001:db8::, 2001:db8::7fff:ffff:ffff:ffff, 2001:db8::8000:0:0:0, 2001:db8:0:1::",
        "fc00::/7, fc00::, fdff::1, fbff::, fe00::",
        "::ffff:10.0.0.0/104, 10.0.0.0, 10.255.255.255, 11.0.0.0, ::a00:0",
        "::ffff:0:0/96, 0.0.0.0, 255.255.255.255, ::, ::ffff:0:0:0",
    })
    void aRangeContainsItsEndsAndNotTheirNeighbors(
            String range, String first, String last, String before, String after) {
        assertThat(contains(range, first)).isTrue();
        assertThat(contains(range, last)).isTrue();
        assertThat(contains(range, before)).isFalse();
        assertThat(contains(range, after)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "''              => \"\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "/8              => \"/8\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "localhost       => \"localhost\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "10.0.0          => \"10.0.0\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "10.0.0.0-9      => \"10.0.0.0-9\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "[::1]           => \"[::1]\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "fe80::1%eth0    => \"fe80::1%eth0\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32",
                "10.0.0.0/       => \"10.0.0.0/\" needs a number of bits from 0 to 32 after the slash",
                "10.0.0.0/33     => \"10.0.0.0/33\" needs a number of bits from 0 to 32 after the slash",
                "10.0.0.0/-1     => \"10.0.0.0/-1\" needs a number of bits from 0 to 32 after the slash",
                "10.0.0.0/8/8    => \"10.0.0.0/8/8\" needs a number of bits from 0 to 32 after the slash",
                "10.0.0.0/255.0.0.0 => \"10.0.0.0/255.0.0.0\" needs a number of bits from 0 to 32 after the slash",
                "10.0.0.0/\u0668 => \"10.0.0.0/\u0668\" needs a number of bits from 0 to 32 after the slash",
                "::/129          => \"::/129\" needs a number of bits from 0 to 128 after the slash",
                "::ffff:10.0.0.0/8 => \"::ffff:10.0.0.0/8\" needs a number of bits from 96 to 128 after the slash",
                "10.0.0.1/8      => \"10.0.0.1/8\" has bits after the first 8: write 10.0.0.0/8",
                "10.0.0.1/0      => \"10.0.0.1/0\" has bits after the first 0: write 0.0.0.0/0",
                "2001:db8::1/64  => \"2001:db8::1/64\" has bits after the first 64: write 2001:db8::/64",
                "::ffff:10.0.0.1/104 => \"::ffff:10.0.0.1/104\" has bits after the first 104: write 10.0.0.0/8",
            })
    void rejectsOtherTextWithTheReason(String text, String message) {
        assertThatThrownBy(() -> AddressRange.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void theTextIsCanonicalAndParsesToTheSameRange() {
        for (String text :
                new String[] {"10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "::1/128", "10.0.0.7/32"}) {
            assertThat(AddressRange.parse(text)).hasToString(text).isEqualTo(AddressRange.parse(text));
        }
        assertThat(AddressRange.parse("10.0.0.7")).isEqualTo(AddressRange.parse("10.0.0.7/32"));
        assertThat(AddressRange.parse("::FFFF:10.0.0.0/104")).isEqualTo(AddressRange.parse("10.0.0.0/8"));
        assertThat(AddressRange.parse("10.0.0.0/8")).isNotEqualTo(AddressRange.parse("10.0.0.0/9"));
        assertThat(AddressRange.parse("::/0")).isNotEqualTo(AddressRange.parse("0.0.0.0/0"));
    }
}
