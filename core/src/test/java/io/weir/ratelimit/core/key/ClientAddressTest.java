// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.fixtures.Growth;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The peer is 10.0.0.1, a proxy; the proxies of 10.0.0.0/8 and fd00::/8 are trusted. */
class ClientAddressTest {
    private static final String PEER = "10.0.0.1";
    private static final List<AddressRange> PROXIES = AddressRange.parseAll("10.0.0.0/8, fd00::/8");

    private static String behind(ForwardedHeader header, List<AddressRange> trusted, String peer, String... lines) {
        return new ClientAddress(trusted, header)
                .of(
                        Optional.of(peer),
                        name -> name.equals(header.fieldName()) ? List.of(lines) : List.of("6.6.6.6", "for=6.6.6.6"))
                .map(IpAddress::toString)
                .orElse("none");
    }

    private static String xff(String... lines) {
        return behind(ForwardedHeader.X_FORWARDED_FOR, PROXIES, PEER, lines);
    }

    private static String forwarded(String... lines) {
        return behind(ForwardedHeader.FORWARDED, PROXIES, PEER, lines);
    }

    @ParameterizedTest
    @EnumSource(ForwardedHeader.class)
    void thePeerIsTheClientIfNoProxyIsTrusted(ForwardedHeader header) {
        assertThat(behind(header, List.of(), PEER, "203.0.113.7", "for=203.0.113.7"))
                .isEqualTo(PEER);
        assertThat(behind(header, PROXIES, "198.51.100.1", "203.0.113.7", "for=203.0.113.7"))
                .isEqualTo("198.51.100.1");
        assertThat(behind(header, PROXIES, "11.0.0.1", "10.0.0.2", "for=10.0.0.2"))
                .isEqualTo("11.0.0.1");
    }

    @ParameterizedTest
    @EnumSource(ForwardedHeader.class)
    void thePeerIsTheClientWithoutTheHeader(ForwardedHeader header) {
        assertThat(behind(header, PROXIES, PEER)).isEqualTo(PEER);
        assertThat(behind(header, PROXIES, "fd00::1")).isEqualTo("fd00::1");
        assertThat(behind(header, PROXIES, "")).isEqualTo("none");
        assertThat(behind(header, PROXIES, "@", "203.0.113.7")).isEqualTo("none");
        assertThat(new ClientAddress(PROXIES, header).of(Optional.empty(), name -> List.of("203.0.113.7")))
                .isEmpty();
    }

    /** Jetty writes brackets around IPv6, and some valves pass on the port that a proxy reports. */
    @ParameterizedTest
    @CsvSource({
        "[2001:db8::7], 2001:db8::7, 2001:db8::7",
        "[2001:db8::7]:4711, 2001:db8::7, 2001:db8::7",
        "203.0.113.7:4711, 203.0.113.7, 203.0.113.7",
        "[fd00::1], fd00::1, 198.51.100.1",
        "10.0.0.1:80, 10.0.0.1, 198.51.100.1"
    })
    @Tag("field")
    void theServerCanWriteThePeerWithBracketsOrAPort(String peer, String address, String client) {
        assertThat(behind(ForwardedHeader.X_FORWARDED_FOR, PROXIES, peer, "198.51.100.1"))
                .isEqualTo(client);
        assertThat(behind(ForwardedHeader.FORWARDED, PROXIES, peer, "for=198.51.100.1"))
                .isEqualTo(client);
        CallContext call = TestCall.fromAddress(peer);
        KeyExpression key = KeyExpression.parse("ip", new KeyTerms(32, 128));
        Identity direct = Identity.address(address);
        assertThat(key.resolve(call)).isEqualTo(direct);
        assertThat(key.ofSource(key.source(call))).isEqualTo(direct);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "203.0.113.7                            => 203.0.113.7",
                "'  203.0.113.7\t'                      => 203.0.113.7",
                "203.0.113.7, 10.0.0.2                  => 203.0.113.7",
                "203.0.113.7,10.0.0.2,10.0.0.3          => 203.0.113.7",
                "6.6.6.6, 203.0.113.7                   => 203.0.113.7",
                "10.0.0.9, 203.0.113.7                  => 203.0.113.7",
                "6.6.6.6, 203.0.113.7, 10.0.0.2         => 203.0.113.7",
                "junk\", 203.0.113.7                    => 203.0.113.7",
                "10.0.0.3, 10.0.0.2                     => 10.0.0.3",
                "203.0.113.7:4711                       => 203.0.113.7",
                "203.0.113.7:0                          => 203.0.113.7",
                "203.0.113.7, 10.0.0.2:80               => 203.0.113.7",
                "2001:db8::7                            => 2001:db8::7",
                "2001:DB8::7, fd00::2                   => 2001:db8::7",
                "[2001:db8::7]                          => 2001:db8::7",
                "[2001:db8::7]:4711                     => 2001:db8::7",
                "2001:db8::7, [fd00::2]:80              => 2001:db8::7",
                "fe80::7%eth0                           => fe80::7",
                "[fe80::7%25eth0]:80                    => fe80::7",
                "[fd00::2%eth0], 10.0.0.2               => fd00::2",
                "::ffff:203.0.113.7                     => 203.0.113.7",
                "[::ffff:203.0.113.7]:80                => 203.0.113.7",
                "203.0.113.7, ::ffff:10.0.0.2           => 203.0.113.7",
                "::ffff:cb00:7107                       => 203.0.113.7",
            })
    @Tag("field")
    void theFirstHopFromTheRightThatIsNotTrustedIsTheClient(String line, String client) {
        assertThat(xff(line)).isEqualTo(client);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "unknown",
                "_hidden",
                "_",
                "-",
                "null",
                "localhost",
                "proxy.example.com",
                "1",
                "127.1",
                "0177.0.0.1",
                "203.0.113.256",
                "203.0.113.7.",
                "203.0.113",
                "203.0.113.7:",
                "203.0.113.7:x",
                "203.0.113.7:123456",
                "203.0.113.7:-1",
                "203.0.113.7:80:80",
                "203.0.113.7/32",
                "203.0.113.7%eth0",
                "203.0.113.7 80",
                "203.0.113.7\u00a0",
                "203.0.113.7\0",
                "\u0662.0.0.1",
                "[203.0.113.7]",
                "[203.0.113.7]:80",
                "[2001:db8::7",
                "2001:db8::7]",
                "[]",
                "[]:80",
                "[",
                "]",
                "[2001:db8::7]80",
                "[2001:db8::7]:",
                "[2001:db8::7]:x",
                "[[::1]]",
                "2001:db8:::7",
                ":",
                "::1::",
                "\"203.0.113.7\"",
                "for=203.0.113.7",
                "203.0.113.7;",
                "\r\nHost: x",
                "a\rb",
                "%31",
                "0.0.0.0",
                "0.0.0.0:80",
                "::",
                "::%eth0",
                "[::]",
                "[::]:80",
                "::ffff:0.0.0.0",
                "203.0.113.7:_obfport",
                "[2001:db8::7]:_obfport"
            })
    void theClientIsTheHopThatReportedNoLiteralAddress(String junk) {
        assertThat(xff(junk)).isEqualTo(PEER);
        assertThat(xff("203.0.113.7, " + junk)).isEqualTo(PEER);
        assertThat(xff(junk + ", 10.0.0.2")).isEqualTo("10.0.0.2");
        assertThat(xff("203.0.113.7, " + junk + ", 10.0.0.3, 10.0.0.2")).isEqualTo("10.0.0.3");
        assertThat(xff(junk, "10.0.0.2")).isEqualTo("10.0.0.2");
        assertThat(xff(junk + ", 203.0.113.7")).as("to the left of the client").isEqualTo("203.0.113.7");
    }

    @Test
    void severalLinesAreOneListInOrder() {
        assertThat(xff("6.6.6.6", "203.0.113.7")).isEqualTo("203.0.113.7");
        assertThat(xff("203.0.113.7", "10.0.0.2")).isEqualTo("203.0.113.7");
        assertThat(xff("6.6.6.6, 203.0.113.7", "10.0.0.3, 10.0.0.2")).isEqualTo("203.0.113.7");
        assertThat(xff("203.0.113.7", "", "10.0.0.2")).as("an empty element").isEqualTo("10.0.0.2");
        assertThat(xff("203.0.113.7", "10.0.0.2,")).isEqualTo(PEER);
        assertThat(xff(",203.0.113.7")).isEqualTo("203.0.113.7");
        assertThat(xff("203.0.113.7,,10.0.0.2")).isEqualTo("10.0.0.2");
        assertThat(forwarded("for=6.6.6.6, for=203.0.113.7", "for=10.0.0.3", "for=10.0.0.2"))
                .isEqualTo("203.0.113.7");
        assertThat(forwarded("for=\"", "for=203.0.113.7")).isEqualTo("203.0.113.7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            value = {
                "for=203.0.113.7                                    => 203.0.113.7",
                "For=203.0.113.7;Proto=https;By=10.0.0.1            => 203.0.113.7",
                "proto=https;FOR=203.0.113.7                        => 203.0.113.7",
                "for=203.0.113.7; proto=https                       => 203.0.113.7",
                ";;for=203.0.113.7;                                 => 203.0.113.7",
                "for=\"203.0.113.7\"                                => 203.0.113.7",
                "for=\"203.0.113.7:4711\"                           => 203.0.113.7",
                "for=203.0.113.7:4711                               => 203.0.113.7",
                "for=\"[2001:db8::7]\"                              => 2001:db8::7",
                "for=\"[2001:db8::7]:4711\";proto=http              => 2001:db8::7",
                "for=[2001:db8::7]                                  => 2001:db8::7",
                "for=2001:db8::7                                    => 2001:db8::7",
                "for=\"2001:db8::7\";proto=https                    => 2001:db8::7",
                "by=192.0.2.1;for=2001:db8::7,for=10.0.0.2;proto=http => 2001:db8::7",
                "for=\"[fe80::7%25eth0]\"                           => fe80::7",
                "for=\"[::ffff:203.0.113.7]\"                       => 203.0.113.7",
                "for=\"\\2\\0\\3.0.113.7\"                          => 203.0.113.7",
                "for=6.6.6.6, for=203.0.113.7                       => 203.0.113.7",
                "for=203.0.113.7, for=10.0.0.2;by=10.0.0.1          => 203.0.113.7",
                "for=203.0.113.7,for=\"10.0.0.2\"                   => 203.0.113.7",
                "for=203.0.113.7;host=\"a, for=6.6.6.6\"            => 203.0.113.7",
                "host=\"a, for=6.6.6.6\";for=203.0.113.7            => 203.0.113.7",
                "host=\"a\\\", for=6.6.6.6\";for=203.0.113.7        => 203.0.113.7",
                "host=\"a\\\\\";for=203.0.113.7                     => 203.0.113.7",
                "for=6.6.6.6;host=\"a\\\\\", for=203.0.113.7        => 203.0.113.7",
                "host=example.com:80;for=203.0.113.7                => 203.0.113.7",
                "before=1.2.3.4;for=203.0.113.7;forx=1.2.3.4        => 203.0.113.7",
                "for=203.0.113.7;secret=\"\"                        => 203.0.113.7",
                "junk\", for=203.0.113.7                            => 203.0.113.7",
                "for=\"junk, for=203.0.113.7                        => 203.0.113.7",
                "for=\"\\, for=203.0.113.7                          => 203.0.113.7",
                "for=10.0.0.3, for=10.0.0.2                         => 10.0.0.3",
                "for=\"203.0.113.7:_obfport\"                       => 203.0.113.7",
                "for=203.0.113.7:_obfport                           => 203.0.113.7",
                "for=\"203.0.113.7:_aZ09._-\";proto=http            => 203.0.113.7",
                "for=\"[2001:db8::7]:__\"                           => 2001:db8::7",
                "for=\"203.0.113.7\\:\\_x\"                           => 203.0.113.7",
                "for=203.0.113.7, for=\"10.0.0.2:_x\"               => 203.0.113.7",
            })
    @Tag("field")
    void readsForwardedAsItsStandardSpecifies(String line, String client) {
        assertThat(forwarded(line)).isEqualTo(client);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "203.0.113.7",
                "for",
                "for=",
                "for =203.0.113.7",
                "for= 203.0.113.7",
                "=203.0.113.7",
                "proto=https",
                "for=unknown",
                "for=_hidden",
                "for=\"_hidden:80\"",
                "for=2001:db8:0:0:0:0:0:7:80",
                "for=\"\"",
                "for=\"203.0.113.7",
                "for=203.0.113.7\"",
                "for=\"203.0.113.7\"x",
                "for=x\"203.0.113.7\"",
                "for='203.0.113.7'",
                "for=203.0.113.7;for=203.0.113.7",
                "for=203.0.113.7;proto",
                "for=203.0.113.7;proto=",
                "for=203.0.113.7 proto=http",
                "for=203.0.113.7;\u00a0proto=http",
                "for=203.0.113.7;=x",
                "f\u00f6r=203.0.113.7",
                "\"for\"=203.0.113.7",
                "for=\"203.0.113.7\\\"",
                "for=\"203.0.113.7\\",
                "for=\"\\",
                "\"",
                "\\",
                "for=203.0.113.7\0",
                "\u017for=203.0.113.7",
                "for=\"203.0.113.7, 203.0.113.8\"",
                "for=203.0.113.7;host=\"a\"b\"",
                "for=\"203.0.113.7:_\"",
                "for=\"203.0.113.7:obfport\"",
                "for=\"203.0.113.7:_a:80\"",
                "for=\"203.0.113.7:_a!\"",
                "for=\"203.0.113.7:_a b\"",
                "for=\"203.0.113.7:_\u00e9\"",
                "for=\"203.0.113.7:_@\"",
                "for=\"203.0.113.7:8_\"",
                "for=\"203.0.113.7:123456\"",
                "for=\"[2001:db8::7]:_\"",
                "for=\"[2001:db8::7]_a\"",
                "for=0.0.0.0",
                "for=\"[::]\"",
                "for=\"[::]:_x\""
            })
    void theClientIsTheHopThatReportedAnElementWithoutALiteralAddress(String junk) {
        assertThat(forwarded(junk)).isEqualTo(PEER);
        assertThat(forwarded("for=6.6.6.6", junk)).isEqualTo(PEER);
        assertThat(forwarded(junk, "for=10.0.0.2")).isEqualTo("10.0.0.2");
        assertThat(forwarded(junk + ", for=203.0.113.7"))
                .as("to the left of the client")
                .isEqualTo("203.0.113.7");
    }

    @Test
    void theLeftmostAddressIsTheClientIfAllAddressesAreTrusted() {
        List<AddressRange> everyone = AddressRange.parseAll("0.0.0.0/0, ::/0");
        assertThat(behind(ForwardedHeader.X_FORWARDED_FOR, everyone, PEER, "6.6.6.6, 203.0.113.7"))
                .isEqualTo("6.6.6.6");
        assertThat(behind(ForwardedHeader.X_FORWARDED_FOR, everyone, PEER, "junk, 203.0.113.7"))
                .isEqualTo("203.0.113.7");
    }

    @Test
    void readsNothingToTheLeftOfTheClient() {
        List<String> lines = new ArrayList<>(Collections.nCopies(3, "6.6.6.6"));
        List<Integer> read = new ArrayList<>();
        List<String> watched = new AbstractList<>() {
            @Override
            public String get(int index) {
                read.add(index);
                return index == 2 ? "203.0.113.7" : lines.get(index);
            }

            @Override
            public int size() {
                return lines.size();
            }
        };
        assertThat(new ClientAddress(PROXIES, ForwardedHeader.X_FORWARDED_FOR).of(Optional.of(PEER), name -> watched))
                .map(IpAddress::toString)
                .contains("203.0.113.7");
        assertThat(read).containsExactly(2);
    }

    @Test
    void readsTenThousandHops() {
        String proxies = ", 10.0.0.2".repeat(10_000);
        assertThat(xff("203.0.113.7" + proxies)).isEqualTo("203.0.113.7");
        assertThat(forwarded("for=203.0.113.7" + ", for=10.0.0.2".repeat(10_000)))
                .isEqualTo("203.0.113.7");
        String[] lines = IntStream.range(0, 10_000)
                .mapToObj(i -> i == 0 ? "203.0.113.7" : "10.0.0.2")
                .toArray(String[]::new);
        assertThat(xff(lines)).isEqualTo("203.0.113.7");
    }

    private static List<String> hostileUnits() {
        return List.of(
                "10.0.0.2,",
                "fd00::1,",
                "fd00::,",
                ",",
                "x",
                "\"",
                "\\",
                "\\\"",
                ";",
                "=",
                ":",
                "[",
                "%",
                " ",
                "a=b;",
                "a=\"b\";",
                "for=",
                "for=\"10.0.0.2\",",
                "for=\"[fd00::1]\",",
                "for=\"10.0.0.2:_x\",",
                "_",
                "\"\",",
                "a=\"\\\\\",");
    }

    /**
     * Ten times the text may take ten times as much CPU time, not a hundred times. The test compares the best of up to 50 runs,
     * because other processes can only slow down a run.
     */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void theTimeIsProportionalToTheLengthOfTheHeader() {
        for (ForwardedHeader header : ForwardedHeader.values()) {
            for (String unit : hostileUnits()) {
                long small = Long.MAX_VALUE;
                long large = Long.MAX_VALUE;
                for (int run = 0; run < 50 && (run < 4 || !isProportional(small, large)); run++) {
                    small = Math.min(small, cpuNanos(header, unit, 100_000));
                    large = Math.min(large, cpuNanos(header, unit, 1_000_000));
                }
                assertThat(isProportional(small, large))
                        .as("%s of %s: %d ns, ten times as much: %d ns", header, unit, small, large)
                        .isTrue();
            }
        }
    }

    private static boolean isProportional(long small, long large) {
        return large < 30 * Math.max(small, 100_000);
    }

    private static long cpuNanos(ForwardedHeader header, String unit, int length) {
        String last = header == ForwardedHeader.FORWARDED ? "for=10.0.0.2" : "10.0.0.2";
        String line = unit.repeat(length / unit.length()) + last;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        assertThat(behind(header, PROXIES, PEER, line)).isNotEqualTo("none");
        return threads.getCurrentThreadCpuTime() - start;
    }

    /** The client is always the address that the trusted proxy appends, for any text of the client. */
    @Test
    void noClientTextChangesTheClient() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String[] pieces = {
            "6.6.6.6",
            "10.0.0.2",
            "for=",
            "for=6.6.6.6",
            ",",
            ";",
            "\"",
            "\\",
            "[",
            "]",
            ":",
            "::1",
            " ",
            "\t",
            "\0",
            "\r\n",
            "unknown",
            "_x",
            "=",
            "\u00e9",
            "%",
            "proto=http"
        };
        for (int i = 0; i < 50_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(10); left > 0; left--) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            assertThat(xff(text + ", 203.0.113.7"))
                    .as("%s, seed %d", text, seed)
                    .isEqualTo("203.0.113.7");
            assertThat(forwarded(text + ", for=203.0.113.7"))
                    .as("%s, seed %d", text, seed)
                    .isEqualTo("203.0.113.7");
            assertThat(forwarded(text + ", for=\"[2001:db8::7]:80\";proto=https, for=10.0.0.9"))
                    .as("%s, seed %d", text, seed)
                    .isEqualTo("2001:db8::7");
        }
    }

    @Test
    void anUntrustedProxyIsLoggedOnceAndOnlyIfNoProxyIsTrusted() {
        try (LogCapture log = new LogCapture()) {
            ClientAddress nobody = new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR);
            nobody.of(Optional.of(PEER), name -> List.of());
            new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR, true)
                    .of(Optional.of(PEER), name -> List.of("203.0.113.7"));
            assertThat(log.lines()).isEmpty();
            nobody.of(Optional.of(PEER), name -> List.of("203.0.113.7"));
            nobody.of(Optional.of(PEER), name -> List.of("203.0.113.7"));
            new ClientAddress(PROXIES, ForwardedHeader.FORWARDED).of(Optional.of("6.6.6.6"), name -> List.of("for=x"));
            assertThat(log.lines())
                    .containsExactly(
                            "WARNING WEIR-309 A request has the header x-forwarded-for, but no proxy is trusted. Behind a "
                                    + "proxy, all clients share the key of the proxy's address. If there is a proxy, set "
                                    + "ratelimit.trusted-proxies. This is logged once.");
        }
    }

    @Test
    void theKeyTermResolvesToThePrefixOfTheClientAddress() {
        KeyTerms terms =
                new KeyTerms(24, 64, new ClientAddress(PROXIES, ForwardedHeader.X_FORWARDED_FOR), Map.of(), false);
        CallContext call = TestCall.fromAddress(PEER).withHeader("x-forwarded-for", "6.6.6.6, 203.0.113.7");
        assertThat(KeyExpression.parse("ip", terms).resolve(call)).isEqualTo(Identity.address("203.0.113.0/24"));
    }

    /** A field that a client has filled cannot hide the address that the proxy has appended. */
    @ParameterizedTest
    @ValueSource(strings = {",", "a", "10.0.0.2,", "\"", "\\", "[", "for=", ";"})
    @Tag("field")
    void aLongFieldOfAClientDoesNotHideItsAddress(String part) {
        String filled = part.repeat(200_000 / part.length());
        assertThat(xff(filled + ", 203.0.113.9")).isEqualTo("203.0.113.9");
        assertThat(xff(filled, "203.0.113.9")).isEqualTo("203.0.113.9");
        assertThat(forwarded(filled + ", for=203.0.113.9")).isEqualTo("203.0.113.9");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ",",
                "a",
                "10.0.0.2,",
                "for=10.0.0.2,",
                "\"",
                "\\",
                "\\\"",
                "\"\\\\\",",
                "[",
                "for=\"",
                ";",
                "a=b;",
                " "
            })
    @Tag("field")
    void eachFieldIsReadInLinearTime(String part) {
        for (int i = 0; i < 20; i++) {
            xff(part.repeat(2_000));
            forwarded(part.repeat(2_000));
        }
        Growth.isLinear("a field of " + part, 400_000, size -> {
            String field = part.repeat(size / part.length());
            xff(field);
            xff(field + "10.0.0.2");
            forwarded(field);
            forwarded(field + "\"");
            forwarded(field + "for=10.0.0.2");
        });
    }
}
