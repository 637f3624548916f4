// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
    private static final Settings DEFAULTS = new Settings(
            true,
            "auto",
            Optional.empty(),
            32,
            64,
            List.of(),
            ForwardedHeader.X_FORWARDED_FOR,
            List.of("draft-11", "legacy"),
            100_000,
            Settings.Metrics.AUTO,
            Duration.ofSeconds(5),
            OptionalInt.empty(),
            Duration.ofMillis(100),
            false);

    private final Problems problems = new Problems();

    private Settings read(String... lines) {
        return Settings.read(Configs.of(lines), problems);
    }

    @Test
    void nothingNeedsToBeConfigured() {
        assertThat(read()).isEqualTo(DEFAULTS);
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void everythingCanBeConfigured() {
        assertThat(read(
                        "ratelimit.enabled=false",
                        "ratelimit.backend=redisson",
                        "ratelimit.key-secret=0123456789abcdef",
                        "ratelimit.ipv4-prefix=24",
                        "ratelimit.ipv6-prefix=56",
                        "ratelimit.trusted-proxies=10.0.0.0/8 ,2001:db8::1",
                        "ratelimit.forwarded-header=forwarded",
                        "ratelimit.headers=draft-06, ietf",
                        "ratelimit.local.max-keys=1",
                        "ratelimit.metrics=otel",
                        "ratelimit.reload-interval=1h",
                        "ratelimit.instances=3",
                        "ratelimit.redis.deadline=50ms",
                        "ratelimit.health.fail-when-degraded=true"))
                .isEqualTo(new Settings(
                        false,
                        "redisson",
                        Optional.of("0123456789abcdef"),
                        24,
                        56,
                        List.of(AddressRange.parse("10.0.0.0/8"), AddressRange.parse("2001:db8::1/128")),
                        ForwardedHeader.FORWARDED,
                        List.of("draft-06", "draft-11"),
                        1,
                        Settings.Metrics.OTEL,
                        Duration.ofHours(1),
                        OptionalInt.of(3),
                        Duration.ofMillis(50),
                        true));
        assertThat(problems.found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"yes", "TRUE", "1"})
    void aReadinessThatIsNeitherTrueNorFalseIsReported(String text) {
        assertThat(read("ratelimit.health.fail-when-degraded=" + text).failsWhenDegraded())
                .isFalse();
        assertThat(problems.message())
                .contains("WEIR-125 ratelimit.health.fail-when-degraded = " + text + ": must be true or false;");
    }

    @Test
    void theEnvironmentOverridesSettings() {
        Map<String, String> environment = Map.of("RATELIMIT_LOCAL_MAX_KEYS", "7", "RATELIMIT_ENABLED", "false");
        Settings settings = Settings.read(
                Configs.withEnvironment(environment, "ratelimit.local.max-keys=5", "ratelimit.enabled=true"), problems);
        assertThat(settings.localMaxKeys()).isEqualTo(7);
        assertThat(settings.enabled()).isFalse();
    }

    @Test
    void anEmptyValueIsAbsent() {
        assertThat(read(
                        "ratelimit.enabled=",
                        "ratelimit.backend=",
                        "ratelimit.key-secret=",
                        "ratelimit.ipv4-prefix=",
                        "ratelimit.trusted-proxies=",
                        "ratelimit.forwarded-header=",
                        "ratelimit.headers=",
                        "ratelimit.local.max-keys=",
                        "ratelimit.metrics="))
                .isEqualTo(DEFAULTS);
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void blanksAroundValuesDoNotMatter() {
        assertThat(read("ratelimit.ipv4-prefix= 24 ", "ratelimit.enabled=\tfalse", "ratelimit.headers=  none "))
                .isEqualTo(new Settings(
                        false,
                        "auto",
                        Optional.empty(),
                        24,
                        64,
                        List.of(),
                        ForwardedHeader.X_FORWARDED_FOR,
                        List.of(),
                        100_000,
                        Settings.Metrics.AUTO,
                        Duration.ofSeconds(5),
                        OptionalInt.empty(),
                        Duration.ofMillis(100),
                        false));
        assertThat(problems.found()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "ratelimit.enabled=yes                  > must be true or false",
                "ratelimit.enabled=TRUE                 > must be true or false",
                "ratelimit.ipv4-prefix=0                > must be a whole number from 1 to 32",
                "ratelimit.ipv4-prefix=33               > must be a whole number from 1 to 32",
                "ratelimit.ipv4-prefix=/24              > must be a whole number from 1 to 32",
                "ratelimit.ipv6-prefix=0                > must be a whole number from 1 to 128",
                "ratelimit.ipv6-prefix=129              > must be a whole number from 1 to 128",
                "ratelimit.ipv6-prefix=-1               > must be a whole number from 1 to 128",
                "ratelimit.forwarded-header=X-Real-IP   > must be one of x-forwarded-for, forwarded",
                "ratelimit.metrics=prometheus           > must be one of auto, mp, otel, none",
                "ratelimit.metrics=MP                   > must be one of auto, mp, otel, none",
                "ratelimit.local.max-keys=0             > must be a whole number from 1 to 100000000",
                "ratelimit.local.max-keys=1000000000000 > must be a whole number from 1 to 100000000",
                "ratelimit.local.max-keys=1e5           > must be a whole number from 1 to 100000000",
                "ratelimit.local.max-keys=\u0661        > must be a whole number from 1 to 100000000",
                "ratelimit.reload-interval=999ms        > must be from 1s to 1h, or 0s for never",
                "ratelimit.reload-interval=61m          > must be from 1s to 1h, or 0s for never",
                "ratelimit.reload-interval=5            > \"5\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s",
                "ratelimit.instances=0                  > must be auto, or a whole number from 1 to 10000",
                "ratelimit.instances=10001              > must be auto, or a whole number from 1 to 10000",
                "ratelimit.instances=AUTO               > must be auto, or a whole number from 1 to 10000",
                "ratelimit.headers=draft-07             > must be none, or some of ietf, draft-11, draft-06, legacy",
                "ratelimit.headers=IETF                 > must be none, or some of ietf, draft-11, draft-06, legacy",
                "ratelimit.headers=none, ietf           > must be none, or some of ietf, draft-11, draft-06, legacy",
                "ratelimit.headers=ietf,,legacy         > must be none, or some of ietf, draft-11, draft-06, legacy",
                "'ratelimit.headers=,'                  > must be none, or some of ietf, draft-11, draft-06, legacy",
            })
    void anInvalidValueIsReportedAndTheDefaultApplies(String line, String problem) {
        assertThat(read(line)).isEqualTo(DEFAULTS);
        int equals = line.indexOf('=');
        assertThat(problems.found())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-102",
                        line.substring(0, equals),
                        line.substring(equals + 1),
                        problem,
                        "correct the value, or remove the property to use the default"));
    }

    @Test
    void eachInvalidTrustedProxyIsReported() {
        read("ratelimit.trusted-proxies=10.0.0.0/8, 10.0.0.1/8, proxy.internal, , ::/129");
        assertThat(problems.found()).singleElement().satisfies(problem -> {
            assertThat(problem.place()).isEqualTo("ratelimit.trusted-proxies");
            assertThat(problem.problem())
                    .isEqualTo("\"10.0.0.1/8\" has bits after the first 8: write 10.0.0.0/8; "
                            + "\"proxy.internal\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32; "
                            + "\"\" is no address and no range of addresses such as 10.0.0.0/8 or 2001:db8::/32; "
                            + "\"::/129\" needs a number of bits from 0 to 128 after the slash");
        });
    }

    @Test
    void theDialectsAreDistinctAndInOrder() {
        assertThat(read("ratelimit.headers=legacy,draft-11,legacy").headers()).containsExactly("legacy", "draft-11");
    }

    @Test
    void ietfIsTheNewestDraft() {
        assertThat(read("ratelimit.headers=ietf").headers()).isEqualTo(List.of("draft-11"));
        assertThat(read("ratelimit.headers=draft-11, legacy, ietf").headers()).containsExactly("draft-11", "legacy");
    }

    @Test
    void allProblemsAreReportedTogether() {
        read("ratelimit.enabled=yes", "ratelimit.ipv4-prefix=0", "ratelimit.headers=x", "ratelimit.key-secret=short");
        assertThat(problems.found())
                .extracting(ConfigurationProblem::place)
                .containsExactlyInAnyOrder(
                        "ratelimit.enabled", "ratelimit.ipv4-prefix", "ratelimit.headers", "ratelimit.key-secret");
    }

    @Test
    void aShortSecretIsReportedWithoutShowingIt() {
        read("ratelimit.key-secret=0123456789abcde");
        assertThat(problems.message())
                .isEqualTo(
                        "WEIR-100 The rate limit configuration is invalid:\n"
                                + "  WEIR-104 ratelimit.key-secret = ***: the secret is shorter than 16 characters; use at least 32 random characters");
    }

    @Test
    void theTextDoesNotShowTheSecret() {
        assertThat(read("ratelimit.key-secret=0123456789abcdef").toString())
                .doesNotContain("0123456789abcdef")
                .contains("keySecret=***");
        assertThat(read().toString()).contains("keySecret=none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.enabled",
                "ratelimit.backend",
                "ratelimit.key-secret",
                "ratelimit.ipv4-prefix",
                "ratelimit.headers",
                "ratelimit.local.max-keys"
            })
    void anExpressionThatCannotBeResolvedIsReportedAndNotThrown(String property) {
        assertThat(read(property + "=${no.such.property}")).isEqualTo(DEFAULTS);
        assertThat(problems.found())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-101",
                        property,
                        "",
                        "the value cannot be read",
                        "check the ${...} expressions in the value; plain Java and the server for Envoy resolve none"));
    }

    @Test
    void aPropertyWithoutAValueInAnExpressionIsNamed() {
        ConfigProperties config = new ConfigProperties() {
            @Override
            public ConfigProperties.Property get(String name) {
                return ConfigProperties.Property.unresolved(List.of("API_LIMIT_SECRET", "SALT"));
            }

            @Override
            public String source(String name) {
                return "application";
            }

            @Override
            public Set<String> names() {
                return Set.of();
            }
        };
        assertThat(new ConfigReader(config, problems).text("ratelimit.key-secret"))
                .isEmpty();
        assertThat(problems.found())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-101",
                        "ratelimit.key-secret",
                        "",
                        "no source sets API_LIMIT_SECRET, SALT, to which the value refers",
                        "set the property or the environment variable, or write a default as in ${name:default}"));
    }

    @Test
    void configurationIsReloadedUnlessTheIntervalIsZeroOrLimitsAreDisabled() {
        assertThat(read().reloads()).isTrue();
        assertThat(read("ratelimit.reload-interval=1s").overrideLifetime()).isEqualTo(Duration.ofSeconds(1));
        Settings never = read("ratelimit.reload-interval=0s");
        assertThat(never.reloads()).isFalse();
        assertThat(never.overrideLifetime()).isEqualTo(Duration.ofSeconds(5));
        assertThat(read("ratelimit.enabled=false").reloads()).isFalse();
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void aWrongDeadlineIsReportedWithTheBackendOnly() {
        assertThat(read("ratelimit.redis.deadline=soon")).isEqualTo(DEFAULTS);
        assertThat(problems.found()).isEmpty();
    }
}
