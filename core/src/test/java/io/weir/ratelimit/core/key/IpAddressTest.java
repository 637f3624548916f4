// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpAddressTest {

    private static String canonical(String text) {
        return IpAddress.parse(text).map(IpAddress::toString).orElse("none");
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.7, 203.0.113.7",
        "0.0.0.0, 0.0.0.0",
        "255.255.255.255, 255.255.255.255",
        "2001:db8::1, 2001:db8::1",
        "::, ::",
        "::1, ::1",
        "1::, 1::",
        "2001:DB8::ABCD, 2001:db8::abcd",
        "fe80::1%eth0, fe80::1",
        "fe80::1%, fe80::1",
        "fe80::1%25:x%y, fe80::1",
        "::ffff:203.0.113.7, 203.0.113.7",
        "::FFFF:cb00:7107, 203.0.113.7",
        "0:0:0:0:0:ffff:203.0.113.7, 203.0.113.7",
        "::ffff:0:0, 0.0.0.0",
        "::1.2.3.4, ::102:304",
        "64:ff9b::192.0.2.33, 64:ff9b::c000:221",
        "1:2:3:4:5:6:7.8.9.10, 1:2:3:4:5:6:708:90a",
        "1:2:3:4:5:6:7::, 1:2:3:4:5:6:7:0",
        "::2:3:4:5:6:7:8, 0:2:3:4:5:6:7:8",
    })
    void literalsHaveOneCanonicalText(String text, String expected) {
        assertThat(canonical(text)).isEqualTo(expected);
        assertThat(canonical(expected)).isEqualTo(expected);
    }

    /** RFC 5952, section 4. */
    @ParameterizedTest
    @CsvSource({
        "2001:0db8::0001, 2001:db8::1",
        "2001:db8:0:0:0:0:2:1, 2001:db8::2:1",
        "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "0:0:0:1:1:0:0:0, ::1:1:0:0:0",
        "1:0:0:2:0:0:0:0, 1:0:0:2::",
        "0:0:1:0:0:0:0:0, 0:0:1::",
        "0:1:0:1:0:1:0:1, 0:1:0:1:0:1:0:1",
    })
    void shortensTheFirstLongestRunOfSeveralZeroGroups(String text, String expected) {
        assertThat(canonical(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "1",
                "127.1",
                "0177.0.0.1",
                "00.0.0.0",
                "01.2.3.4",
                "0x7f.0.0.1",
                "2130706433",
                "1.2.3",
                "1.2.3.4.5",
                "1.2.3.",
                ".1.2.3",
                "1..2.3",
                "256.0.0.1",
                "1.2.3.999",
                "1.2.3.4 ",
                " 1.2.3.4",
                "1.2.3.-4",
                "+1.2.3.4",
                "1.2.3.4:80",
                "1.2.3.4%eth0",
                "1.2.3.4/32",
                "localhost",
                "example.com",
                "unknown",
                "_hidden",
                "null",
                ":",
                ":::",
                "::::",
                "1:",
                ":1",
                ":1:2:3:4:5:6:7",
                "1:2:3:4:5:6:7:",
                "1::2::3",
                "::1::",
                "1:2:3:4:5:6:7",
                "1:2:3:4:5:6:7:8:9",
                "1:2:3:4:5:6:7:8::",
                "::1:2:3:4:5:6:7:8",
                "1:2:3:4::5:6:7:8",
                "12345::",
                "g::",
                "::-1",
                "::+1",
                ":: ",
                " ::",
                ": :",
                "[::1]",
                "[::1",
                "::1]",
                "[2001:db8::1]:443",
                "1.2.3.4::",
                "1.2.3.4:1:2:3:4:5:6",
                "::1.2.3",
                "::1.2.3.4.5",
                "::01.2.3.4",
                "::1.2.3.4:5",
                "1:2:3:4:5:6:7:1.2.3.4",
                "1:2:3:4:5:1.2.3.4",
                "::ffff:1.2.3.256",
                "::/64",
                "%eth0",
                "%:",
                "\u0661.2.3.4",
                "::\u0661",
                "::\uff11",
                "\ud835\udfce.0.0.1",
                "::\ud835\udfce",
                "1.2.3.4\u0000",
                "::1\n"
            })
    void rejectsOtherText(String text) {
        assertThat(IpAddress.parse(text)).isEmpty();
    }

    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void rejectsLongTextInLinearTime() {
        for (String unit : new String[] {"1", ".", ":", "::", "1:", "1.", "%", "0", "ffff:", "a.", "[", "::%"}) {
            String text = unit.repeat(1_000_000 / unit.length());
            for (int i = 0; i < 200; i++) {
                assertThat(IpAddress.parse(text).isPresent()).isEqualTo(unit.equals("::%"));
            }
        }
        assertThat(canonical("::1%" + "x".repeat(1_000_000))).isEqualTo("::1");
    }

    @Test
    void anyAddressEqualsItsParsedText() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 50_000; i++) {
            byte[] bytes = new byte[i % 4 == 0 ? 4 : 16];
            random.nextBytes(bytes);
            // Runs of zeros are the difficult cases.
            for (int group = 0; group < bytes.length / 2; group++) {
                if (random.nextInt(3) > 0) {
                    bytes[2 * group] = 0;
                    bytes[2 * group + 1] = (byte) random.nextInt(2);
                }
            }
            InetAddress reference = InetAddress.getByAddress(bytes);
            IpAddress address = IpAddress.parse(reference.getHostAddress()).orElseThrow();
            String text = address.toString();
            assertThat(IpAddress.parse(text)).as("%s, seed %d", text, seed).contains(address);
            // The text has only digits, dots and colons, so it is not looked up as a host name.
            assertThat(text).matches(reference instanceof Inet4Address ? "[0-9.]+" : "[0-9a-f:]+");
            assertThat(InetAddress.getByName(text))
                    .as("%s, seed %d", text, seed)
                    .isEqualTo(reference);
            assertThat(text.length())
                    .isLessThanOrEqualTo(reference.getHostAddress().length());
        }
    }

    @Test
    @Tag("field")
    void mappedAddressesAreIpv4Addresses() {
        IpAddress mapped = IpAddress.parse("::ffff:203.0.113.7").orElseThrow();
        IpAddress plain = IpAddress.parse("203.0.113.7").orElseThrow();
        assertThat(mapped).isEqualTo(plain).hasSameHashCodeAs(plain);
        assertThat(mapped.sharing(24, 64)).isEqualTo("203.0.113.0/24");
        assertThat(IpAddress.parse("::203.0.113.7")).get().isNotEqualTo(plain);
        assertThat(IpAddress.parse("::fffe:203.0.113.7")).get().isNotEqualTo(plain);
        assertThat(IpAddress.parse("1::ffff:203.0.113.7")).get().isNotEqualTo(plain);
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.7, 32, 64, 203.0.113.7",
        "203.0.113.7, 31, 64, 203.0.113.6/31",
        "203.0.113.255, 25, 64, 203.0.113.128/25",
        "203.0.113.7, 24, 64, 203.0.113.0/24",
        "203.0.113.7, 1, 64, 128.0.0.0/1",
        "127.255.255.255, 1, 64, 0.0.0.0/1",
        "2001:db8:1:2:3:4:5:6, 32, 64, 2001:db8:1:2::/64",
        "2001:db8:1:2:3:4:5:6, 32, 128, 2001:db8:1:2:3:4:5:6",
        "2001:db8:1:2:3:4:5:7, 32, 127, 2001:db8:1:2:3:4:5:6/127",
        "2001:db8:1:ffff::1, 32, 56, 2001:db8:1:ff00::/56",
        "2001:db8:1:ffff::1, 32, 57, 2001:db8:1:ff80::/57",
        "2001:db8:1:ffff::1, 32, 63, 2001:db8:1:fffe::/63",
        "ffff::1, 32, 1, 8000::/1",
        "::1, 32, 64, ::/64",
    })
    void addressesShareAKeyByPrefix(String text, int ipv4Prefix, int ipv6Prefix, String expected) {
        assertThat(IpAddress.parse(text).orElseThrow().sharing(ipv4Prefix, ipv6Prefix))
                .isEqualTo(expected);
    }

    /** Otherwise all IPv4 clients behind a translator share a key, and a tunnel gives a client 65,536 keys. */
    @ParameterizedTest
    @CsvSource({
        "64:ff9b::203.0.113.7, 32, 203.0.113.7",
        "64:ff9b::203.0.113.8, 32, 203.0.113.8",
        "64:ff9b::203.0.113.7, 24, 203.0.113.0/24",
        "64:ff9b::1:203.0.113.7, 32, 64:ff9b::/64",
        "64:ff9b:1::203.0.113.7, 32, 64:ff9b:1::/64",
        "2002:cb00:7107:1::1, 32, 203.0.113.7",
        "2002:cb00:7107:ffff:1:2:3:4, 32, 203.0.113.7",
        "2003:cb00:7107:1::1, 32, 2003:cb00:7107:1::/64",
    })
    @Tag("field")
    void anAddressOfATranslatorOrATunnelSharesTheKeyOfItsIpv4Address(String text, int ipv4Prefix, String expected) {
        assertThat(IpAddress.parse(text).orElseThrow().sharing(ipv4Prefix, 64)).isEqualTo(expected);
    }

    @Test
    void aPrefixKeepsExactlyItsBits() {
        IpAddress ones =
                IpAddress.parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").orElseThrow();
        for (int prefix = 1; prefix <= 127; prefix++) {
            for (int bit = 0; bit < 128; bit++) {
                byte[] bytes = new byte[16];
                Arrays.fill(bytes, (byte) 0xff);
                bytes[bit / 8] ^= (byte) (0x80 >> bit % 8);
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < 16; i += 2) {
                    text.append(i == 0 ? "" : ":").append(String.format("%02x%02x", bytes[i], bytes[i + 1]));
                }
                IpAddress differs = IpAddress.parse(text.toString()).orElseThrow();
                boolean shares = differs.sharing(32, prefix).equals(ones.sharing(32, prefix));
                assertThat(shares).as("/%d, bit %d", prefix, bit).isEqualTo(bit >= prefix);
            }
        }
    }
}
