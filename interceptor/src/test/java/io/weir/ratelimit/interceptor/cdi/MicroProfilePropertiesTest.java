// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.Test;

class MicroProfilePropertiesTest {
    private final Problems problems = new Problems();

    private static MicroProfileProperties of(Map<String, String> environment, Map<String, String> properties) {
        return new MicroProfileProperties(
                new SmallRyeConfigBuilder()
                        .addDefaultInterceptors()
                        .withSources(new PropertiesConfigSource(properties, "application", 100))
                        .withSources(new EnvConfigSource(environment, 300))
                        .build(),
                environment.keySet(),
                List.of());
    }

    private LoadedPolicies policies(MicroProfileProperties config) {
        return PolicyLoader.load(config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems);
    }

    @Test
    void anUnresolvedExpressionNamesThePropertiesWithoutAValue() {
        MicroProfileProperties config = of(
                Map.of("HOST", "cache.example"),
                Map.of(
                        "ratelimit.key-secret", "${NO_SUCH_NAME}",
                        "ratelimit.redis.address", "redis://${USER}:${redis.password}@${HOST}:${PORT:6379}"));
        assertThat(config.get("ratelimit.key-secret"))
                .isEqualTo(ConfigProperties.Property.unresolved(List.of("NO_SUCH_NAME")));
        assertThat(config.get("ratelimit.redis.address"))
                .isEqualTo(ConfigProperties.Property.unresolved(List.of("USER", "redis.password")));
    }

    @Test
    void anEmptyDefaultOfAnExpressionIsNoValue() {
        MicroProfileProperties config = of(Map.of(), Map.of("ratelimit.policies.api.key", "${NO_SUCH_NAME:}"));
        assertThat(config.get("ratelimit.policies.api.key")).isEqualTo(ConfigProperties.Property.ABSENT);
    }

    @Test
    void anExpressionIsResolved() {
        MicroProfileProperties config =
                of(Map.of("SECRET", "0123456789abcdef"), Map.of("ratelimit.key-secret", "${SECRET}"));
        assertThat(config.get("ratelimit.key-secret").value()).contains("0123456789abcdef");
        assertThat(config.get("ratelimit.key-secret")).hasToString("ConfigProperty[***]");
    }

    @Test
    void theEnvironmentOverridesAPropertyAndIsItsSource() {
        MicroProfileProperties config =
                of(Map.of("RATELIMIT_POLICIES_API_LIMIT", "9/1m"), Map.of("ratelimit.policies.api.limit", "1/1m"));
        assertThat(config.get("ratelimit.policies.api.limit").value()).contains("9/1m");
        assertThat(config.source("ratelimit.policies.api.limit")).contains("Env");
        assertThat(policies(config).policies()).containsOnlyKeys("api");
    }

    @Test
    void namesOfTheEnvironmentAreNotListed() {
        MicroProfileProperties config = of(
                Map.of(
                        "RATELIMIT_POLICIES_API_LIMIT", "9/1m",
                        "ratelimit.policies.raw.limit", "9/1m",
                        "RATELIMIT_TYPO", "x"),
                Map.of("ratelimit.enabled", "true", "other.name", "x"));
        assertThat(config.names()).containsExactly("ratelimit.enabled");
        assertThat(policies(config).policies()).isEmpty();
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void thePropertiesOfTheActiveProfileAreListedWithoutItsName() {
        MicroProfileProperties config = new MicroProfileProperties(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withProfile("prod")
                .withSources(new PropertiesConfigSource(
                        Map.of(
                                "mp.config.profile", "prod",
                                "%prod.ratelimit.policies.api.limit", "5/1s",
                                "%test.ratelimit.policies.other.limit", "5/1s",
                                "%prod.ratelimit.polices.typo.limit", "5/1s"),
                        "application",
                        100))
                .build());
        assertThat(policies(config).policies()).containsOnlyKeys("api");
        assertThat(problems.found())
                .extracting(ConfigurationProblem::id, ConfigurationProblem::place)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("WEIR-114", "ratelimit.polices.typo.limit"));
    }

    /** As that of Payara, it does not list the names that a profile sets. */
    private static Config listingNamesOfSources(Config config) {
        return (Config) Proxy.newProxyInstance(
                Config.class.getClassLoader(), new Class<?>[] {Config.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("getPropertyNames")) {
                        return method.invoke(config, arguments);
                    }
                    return StreamSupport.stream(config.getConfigSources().spliterator(), false)
                            .flatMap(source -> source.getPropertyNames().stream())
                            .collect(Collectors.toSet());
                });
    }

    @Test
    void theNamesOfTheActiveProfileAreThoseOfItsSources() {
        Map<String, String> environment = Map.of("PATH", "/bin", "RATELIMIT_POLICIES_ENV_LIMIT", "1/1m");
        Config config = listingNamesOfSources(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withProfile("prod")
                .withSources(new PropertiesConfigSource(
                        Map.of(
                                "mp.config.profile", "prod",
                                "ratelimit.enabled", "true",
                                "%prod.ratelimit.policies.api.limit", "5/1s",
                                "%production.ratelimit.policies.longer.limit", "5/1s",
                                "%test.ratelimit.policies.other.limit", "5/1s",
                                "%prod.other.name", "x",
                                "%prodratelimit.policies.joined.limit", "5/1s"),
                        "application",
                        100))
                .withSources(new EnvConfigSource(environment, 300))
                .build());
        assertThat(new MicroProfileProperties(config, environment.keySet(), List.of()).names())
                .containsExactly("ratelimit.enabled", "ratelimit.policies.api.limit");
    }
}
