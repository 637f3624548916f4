// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.IpAddress;
import io.weir.ratelimit.spi.CallContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BypassTest {
    private final Problems problems = new Problems();

    @Test
    void aTokenBypassesTheLimitsByItsDigest() throws Exception {
        Bypass bypass = read("ratelimit.bypass.tokens=" + digest("other") + ", "
                + digest("let me in").toUpperCase(Locale.ROOT));
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "let me in")).isTrue();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", " let me in ")).isTrue();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "other")).isTrue();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "let me out")).isFalse();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", digest("let me in"))).isFalse();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "")).isFalse();
        assertThat(bypasses(bypass, "Authorization", "let me in")).isFalse();
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void theHeaderCanBeConfigured() throws Exception {
        Bypass bypass = read("ratelimit.bypass.tokens=" + digest("probe"), "ratelimit.bypass.header=X-Probe");
        assertThat(bypasses(bypass, "X-Probe", "probe")).isTrue();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "probe")).isFalse();
    }

    @Test
    void ignoresATokenThatIsTooLong() throws Exception {
        String longest = "x".repeat(1_024);
        Bypass bypass = read("ratelimit.bypass.tokens=" + digest(longest) + "," + digest(longest + "x"));
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", longest)).isTrue();
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", longest + "x")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"10.1.2.3, true", "10.2.0.1, false", "192.0.2.7, true", "2001:db8::9, true", "2001:db9::1, false"})
    void anAddressBypassesTheLimitsByItsRange(String address, boolean passes) {
        Bypass bypass = read("ratelimit.bypass.addresses=10.1.0.0/16, 192.0.2.7, 2001:db8::/32");
        assertThat(bypass.appliesTo(CallContext.NONE, () -> IpAddress.parse(address)))
                .isEqualTo(passes);
        assertThat(bypass.appliesTo(CallContext.NONE, Optional::empty)).isFalse();
    }

    @Test
    void aRoleBypassesTheLimits() {
        Bypass bypass = read("ratelimit.bypass.roles=admin, monitor");
        assertThat(bypass.appliesTo(inRole("monitor"), Optional::empty)).isTrue();
        assertThat(bypass.appliesTo(inRole("user"), Optional::empty)).isFalse();
    }

    @Test
    void noCallBypassesTheLimitsByDefault() {
        assertThat(bypasses(read(), "X-RateLimit-Bypass", "")).isFalse();
        assertThat(read().appliesTo(inRole(""), () -> IpAddress.parse("127.0.0.1")))
                .isFalse();
        assertThat(Bypass.NONE.appliesTo(inRole(""), () -> IpAddress.parse("127.0.0.1")))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"let me in", "0123", "g123456789012345678901234567890123456789012345678901234567890123"})
    void aTokenInPlaceOfItsDigestIsReportedAndNotShown(String token) {
        Bypass bypass = read("ratelimit.bypass.tokens=" + token);
        assertThat(problems.message())
                .contains("WEIR-124 ratelimit.bypass.tokens = ***: entry 1 is not a SHA-256 digest");
        assertThat(problems.message()).doesNotContain(token);
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", token)).isFalse();
    }

    @Test
    void aListInBracketsIsReportedAndNotShown() {
        Bypass bypass = read("ratelimit.bypass.tokens=[let me in]");
        assertThat(problems.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-102 ratelimit.bypass.tokens = ***: is a list in brackets; ")
                .doesNotContain("let me in");
        assertThat(bypasses(bypass, "X-RateLimit-Bypass", "let me in")).isFalse();
    }

    @Test
    void aWrongRangeAndAWrongHeaderAreReported() {
        read("ratelimit.bypass.addresses=10.0.0.0/33", "ratelimit.bypass.header=X Y");
        assertThat(problems.message())
                .contains("WEIR-102 ratelimit.bypass.addresses = 10.0.0.0/33: ")
                .contains("WEIR-102 ratelimit.bypass.header = X Y: must be the name of a header field");
    }

    @Test
    void theTextShowsNoDigest() throws Exception {
        assertThat(read("ratelimit.bypass.tokens=" + digest("probe"), "ratelimit.bypass.roles=admin"))
                .hasToString("1 tokens, addresses [], roles [admin]");
    }

    private Bypass read(String... lines) {
        return Bypass.read(Configs.of(lines), problems);
    }

    private static boolean bypasses(Bypass bypass, String header, String value) {
        return bypass.appliesTo(new Sent(Map.of(header, value)), Optional::empty);
    }

    private static String digest(String token) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest);
    }

    private static CallContext inRole(String role) {
        return new Sent(Map.of()) {
            @Override
            public boolean isInRole(String asked) {
                return asked.equals(role);
            }
        };
    }

    /** A call with some headers. */
    private static class Sent implements CallContext {
        private final Map<String, String> headers;

        Sent(Map<String, String> headers) {
            this.headers = headers;
        }

        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(headers.get(name));
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }
}
