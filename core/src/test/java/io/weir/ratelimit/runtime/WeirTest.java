// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A limiter that plain Java creates. */
@Timeout(30)
class WeirTest {
    private static final String LIMIT = "ratelimit.policies.api.limit";

    private static List<Boolean> calls(RateLimiter limiter, int count) {
        List<Boolean> allowed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            allowed.add(limiter.acquire("api", "alice").allowed());
        }
        return allowed;
    }

    @Test
    void limitsCallsByAProperty() {
        try (Weir weir = Weir.builder().property(LIMIT, "2/1h").build()) {
            assertThat(calls(weir.limiter(), 3)).containsExactly(true, true, false);
        }
    }

    @Test
    void readsAMapAndAPropertiesFileWithDefaults() {
        Properties defaults = new Properties();
        defaults.setProperty(LIMIT, "1/1h");
        Properties file = new Properties(defaults);
        try (Weir weir = Weir.builder()
                .properties(file)
                .properties(Map.of("ratelimit.policies.other.limit", "1/1h"))
                .build()) {
            assertThat(calls(weir.limiter(), 2)).containsExactly(true, false);
            assertThat(weir.hosted().policies().policies()).containsOnlyKeys("api", "other");
        }
    }

    @Test
    void reportsAllProblemsInOneException() {
        WeirBuilder builder = Weir.builder()
                .property(LIMIT, "many")
                .property("ratelimit.policies.api.mode", "maybe")
                .keyResolver("not a name", call -> Optional.empty());
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(builder::build)
                .withMessageContainingAll(LIMIT, "many", "ratelimit.policies.api.mode", "maybe", "not a name")
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::value)
                        .containsExactlyInAnyOrder("many", "maybe", "not a name"));
        assertThatIllegalStateException().isThrownBy(builder::build);
    }

    /** Nothing resolves expressions in plain Java. */
    @Test
    void anExpressionIsAProblem() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property("ratelimit.key-secret", "${SHOP_LIMIT_SECRET:none-is-known}")
                        .property("ratelimit.redis.address", "${SHOP_REDIS}")
                        .property("ratelimit.namespace", "shop-${STAGE}")
                        .build())
                .withMessageContainingAll("WEIR-101", "resolve none")
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::place)
                        .containsExactlyInAnyOrder(
                                "ratelimit.key-secret", "ratelimit.redis.address", "ratelimit.namespace"));
        try (Weir weir = Weir.builder()
                .property(LIMIT, "2/1h")
                .property("ratelimit.key-secret", "0123456789${abcdef")
                .build()) {
            assertThat(calls(weir.limiter(), 3)).containsExactly(true, true, false);
        }
    }

    @Test
    void aRedisWithoutItsJarIsAProblem() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property("ratelimit.redis.address", "redis://localhost:6379")
                        .build())
                .withMessageContaining("ratelimit.redis.address");
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.redis.deadline, soon",
        "ratelimit.redis.deadline, 1m",
        "ratelimit.redis.deadline, 61s",
        "ratelimit.redis.deadline, 0ms",
        "ratelimit.namespace, a b"
    })
    void aPropertyThatEachBackendUsesIsCheckedWithoutRedis(String property, String value) {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property("ratelimit.backend", "local")
                        .property(property, value)
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::id, ConfigurationProblem::place, ConfigurationProblem::value)
                        .containsExactly(tuple("WEIR-102", property, value)));
    }

    @Test
    void aProblemOfTheBackendIsReportedOnce() {
        ConfigurationProblem problem =
                new ConfigurationProblem("WEIR-408", "ratelimit.redis.deadline", "soon", "invalid", "correct it");
        RateLimitBackend local = new LocalBackend(10);
        RateLimitBackend backend = (RateLimitBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RateLimitBackend.class},
                (proxy, method, arguments) -> method.getName().equals("validateConfiguration")
                        ? List.of(problem)
                        : method.invoke(local, arguments));
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property("ratelimit.redis.deadline", "soon")
                        .backend(backend)
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems()).containsExactly(problem));
    }

    @Test
    void usesListenersSourcesAndBackendsOfTheProgram() {
        List<Boolean> decisions = new ArrayList<>();
        PolicySource source = new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("api");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                return Optional.of(LimitOverride.of("1/1h"));
            }
        };
        try (Weir weir = Weir.builder()
                .property(LIMIT, "100/1h")
                .property("ratelimit.redis.deadline", "10s")
                .listener(event -> decisions.add(event.decision().allowed()))
                .source(source)
                .backend(new LocalBackend(10))
                .build()) {
            assertThat(calls(weir.limiter(), 2)).containsExactly(true, false);
        }
        assertThat(decisions).containsExactly(true, false);
    }

    @Test
    void aPluginEntersByTheDoor() throws InterruptedException {
        AuditPlugin plugin = new AuditPlugin();
        try (Weir weir = Weir.builder()
                .property(LIMIT, "2/1h")
                .property(AuditPlugin.LEVEL, "rejected")
                .plugin(plugin)
                .build()) {
            calls(weir.limiter(), 3);
            assertThat(plugin.decisions).hasValue(3);
            assertThat(plugin.written.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void problemsOfAPluginAreReportedWithAllOthers() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "many")
                        .property(AuditPlugin.LEVEL, "loud")
                        .plugin(new AuditPlugin())
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::place)
                        .containsExactly(AuditPlugin.LEVEL, LIMIT));
    }

    @Test
    void aPropertyOfAnAbsentPluginIsAProblem() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property(AuditPlugin.LEVEL, "rejected")
                        .build())
                .withMessageContaining(AuditPlugin.LEVEL);
    }

    @Test
    void aPropertyOfAnAbsentArtifactIsAProblemThatNamesIt() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "many")
                        .property("ratelimit.clients.partner.policy", "api")
                        .property("ratelimit.clients.partner.keyy", "host")
                        .property("ratelimit.client-names", "partner")
                        .property("ratelimit.console.enabled", "false")
                        .property("ratelimit.changes.role", "changer")
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::place, WeirTest::artifact)
                        .containsExactlyInAnyOrder(
                                tuple("ratelimit.clients.partner.keyy", "io.weir:weir-client"),
                                tuple("ratelimit.clients.partner.policy", "io.weir:weir-client"),
                                tuple("ratelimit.client-names", "io.weir:weir-client"),
                                tuple("ratelimit.console.enabled", "io.weir:weir-operations"),
                                tuple("ratelimit.changes.role", "io.weir:weir-operations"),
                                tuple(LIMIT, "")));
    }

    /** Returns the artifact that a remedy names, or nothing. */
    private static String artifact(ConfigurationProblem problem) {
        Matcher named = Pattern.compile("add the artifact ([\\w.:-]+), .*").matcher(problem.remedy());
        return named.matches() ? named.group(1) : "";
    }

    @Test
    void aVariableOfAnAbsentArtifactIsAProblem() {
        Platform platform = new Platform() {
            @Override
            public ConfigProperties.Sources properties() {
                return ConfigProperties.Sources.of(ConfigProperties.of(Map.of(LIMIT, "2/1h")));
            }

            @Override
            public Set<String> environmentVariables() {
                return Set.of("RATELIMIT_CLIENTS_PARTNER_POLICY", "RATELIMIT_CLIENTS_SERVICE_HOST");
            }
        };
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> HostedWeir.on(platform))
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::place)
                        .containsExactly("RATELIMIT_CLIENTS_PARTNER_POLICY"));
    }

    @Test
    @Tag("field")
    void theLinkOfAKubernetesServiceIsNoPropertyOfAnAbsentArtifact() {
        Weir.builder()
                .property(LIMIT, "2/1h")
                .property("ratelimit.envoy.port", "tcp://10.0.0.1:8081")
                .build()
                .close();
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property(LIMIT, "2/1h")
                        .property("ratelimit.envoy.port", "8081")
                        .build())
                .withMessageContaining("io.weir:weir-envoy");
    }

    @Test
    void aPluginPrecedesTheConfiguration() {
        Plugin stricter = new Plugin() {
            @Override
            public ConfigProperties over(ConfigProperties config) {
                return new ConfigProperties() {
                    @Override
                    public ConfigProperties.Property get(String name) {
                        return name.equals(LIMIT) ? ConfigProperties.Property.of("1/1h") : config.get(name);
                    }

                    @Override
                    public String source(String name) {
                        return config.source(name);
                    }

                    @Override
                    public Set<String> names() {
                        return config.names();
                    }
                };
            }
        };
        try (Weir weir = Weir.builder().property(LIMIT, "2/1h").plugin(stricter).build()) {
            assertThat(calls(weir.limiter(), 2)).containsExactly(true, false);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit=1/1h,algorithm=leaky-bucket", "limit=1/1h,algorithm=fixed-window", "concurrency=1"})
    void closeCancelsTheWaitOfAnotherThread(String attributes) throws Exception {
        WeirBuilder builder = Weir.builder().property("ratelimit.policies.api.max-wait", "1h");
        for (String attribute : attributes.split(",", -1)) {
            String[] parts = attribute.split("=", 2);
            builder = builder.property("ratelimit.policies.api." + parts[0], parts[1]);
        }
        RateLimiter limiter;
        Decision first;
        CompletableFuture<Decision> waiting = new CompletableFuture<>();
        try (Weir weir = builder.build()) {
            limiter = weir.limiter();
            first = limiter.acquire("api", "alice");
            Thread caller = new Thread(() -> {
                try {
                    waiting.complete(weir.limiter().acquire("api", "alice"));
                } catch (RuntimeException e) {
                    waiting.completeExceptionally(e);
                }
            });
            caller.setDaemon(true);
            caller.start();
            Await.until("the call waits", Duration.ofSeconds(20), () -> LockSupport.getBlocker(caller) == Sleeper.REAL);
        }
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        limiter.refund(first.receipt());
        assertThat(limiter.peek("api", "alice").get(0).resetAfter())
                .as("the permits of the wait are refunded")
                .isZero();
    }

    @Test
    void aCallThatWouldWaitAfterTheCloseIsCanceled() {
        Weir weir = Weir.builder()
                .property(LIMIT, "1/1h")
                .property("ratelimit.policies.api.algorithm", "fixed-window")
                .property("ratelimit.policies.api.max-wait", "1h")
                .build();
        weir.close();
        assertThat(weir.limiter().acquire("api", "alice").allowed()).isTrue();
        assertThatThrownBy(() -> weir.limiter().acquire("api", "alice")).isInstanceOf(CancellationException.class);
    }
}
