// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.client.outgoing.ClientReader;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A path policy is the same in each form that the platform reads: at the start, and at each reload. */
class ConfigurationNamesTest {
    private static final Map<String, String> SEARCH = Map.of(
            "ratelimit.policies.search.limit", "2/1m",
            "ratelimit.policies.search.paths", "/api/hello",
            "ratelimit.policies.search.key", "global");

    private static final Map<String, String> VARIABLES = Map.of("PATH", "/bin", "HOME", "/root");

    /**
     * A form of properties.
     *
     * @param lists whether a misspelled name is found
     * @param sources the sources with some properties in this form
     * @param environment the environment variables
     */
    record Form(
            String name,
            boolean lists,
            Function<Map<String, String>, List<ConfigSource>> sources,
            Map<String, String> environment) {
        @Override
        public String toString() {
            return name;
        }

        Config config(Map<String, String> properties) {
            return new SmallRyeConfigBuilder()
                    .addDefaultInterceptors()
                    .withSources(sources.apply(properties).toArray(ConfigSource[]::new))
                    .withSources(new EnvConfigSource(environment, 300))
                    .build();
        }
    }

    /** A class whose name begins like those of the sources of the environment. */
    static final class EnvFileConfigSource extends ChangingConfigSource {
        EnvFileConfigSource(String name, Map<String, String> properties) {
            super(name, 200, properties);
        }
    }

    /** A file of variables, as Docker reads it: it lists variables, and returns values for properties. */
    static final class VariablesFile extends ChangingConfigSource {
        VariablesFile(Map<String, String> properties) {
            super("variables", 250, properties);
        }

        @Override
        public Set<String> getPropertyNames() {
            return super.getPropertyNames().stream()
                    .map(io.weir.ratelimit.core.config.ConfigKeys::variable)
                    .collect(Collectors.toSet());
        }
    }

    private static Form form(String name, Function<Map<String, String>, ConfigSource> source) {
        return new Form(name, true, properties -> List.of(source.apply(properties)), VARIABLES);
    }

    private static Form profile(String name, Map<String, String> selection) {
        return form(name, properties -> {
            Map<String, String> all = new TreeMap<>(selection);
            properties.forEach((property, value) -> all.put("%eu." + property, value));
            return new PropertiesConfigSource(all, "application", 100);
        });
    }

    private static Map<String, String> with(Map<String, String> properties, String property, String value) {
        Map<String, String> all = new TreeMap<>(properties);
        all.put(property, value);
        return all;
    }

    static Stream<Form> forms() {
        return Stream.of(
                form("plain", properties -> new PropertiesConfigSource(properties, "application", 100)),
                profile("profile", Map.of("mp.config.profile", "eu")),
                profile("several profiles", Map.of("mp.config.profile", "prod,eu")),
                profile("profile of the implementation", Map.of("smallrye.config.profile", "eu")),
                form("class Env…", properties -> new EnvFileConfigSource("settings-prod", properties)),
                form("source Env…", properties -> new ChangingConfigSource("Environment prod", 200, properties)),
                form("source Env", properties -> new ChangingConfigSource("Env", 300, properties)),
                form(
                        "quoted",
                        properties -> new PropertiesConfigSource(
                                properties.entrySet().stream()
                                        .collect(Collectors.toMap(
                                                property -> property.getKey().replace("search", "\"search\""),
                                                Map.Entry::getValue)),
                                "application",
                                100)),
                new Form(
                        "overridden by the environment",
                        true,
                        properties -> List.of(new PropertiesConfigSource(
                                with(properties, "ratelimit.policies.search.limit", "9/1m"), "application", 100)),
                        with(VARIABLES, "RATELIMIT_POLICIES_SEARCH_LIMIT", "2/1m")),
                new Form(
                        "the environment, named",
                        false,
                        properties -> List.of(new PropertiesConfigSource(
                                Map.of("ratelimit.path-policies", "search"), "application", 100)),
                        with(
                                with(
                                        with(VARIABLES, "RATELIMIT_POLICIES_SEARCH_LIMIT", "2/1m"),
                                        "RATELIMIT_POLICIES_SEARCH_PATHS",
                                        "/api/hello"),
                                "RATELIMIT_POLICIES_SEARCH_KEY",
                                "global")),
                new Form(
                        "a file of variables, named",
                        false,
                        properties -> List.of(
                                new PropertiesConfigSource(
                                        Map.of("ratelimit.path-policies", "search"), "application", 100),
                                new VariablesFile(properties)),
                        VARIABLES),
                new Form(
                        "without names, named",
                        false,
                        properties -> List.of(
                                new PropertiesConfigSource(
                                        Map.of("ratelimit.path-policies", "search"), "application", 100),
                                ChangingConfigSource.withoutNames("vault", 400, properties)),
                        VARIABLES));
    }

    private static Map<String, Policy> policies(ConfigProperties config, Problems problems) {
        return PolicyLoader.load(config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
    }

    @ParameterizedTest
    @MethodSource("forms")
    @Tag("field")
    void aPathPolicyIsTheSameInEachForm(Form form) {
        Set<String> environment = form.environment.keySet();
        Config config = form.config(SEARCH);
        CurrentConfig current = CurrentConfig.of(config, environment);
        assertThat(current.difference()).isEmpty();
        for (ConfigProperties read : List.of(
                new MicroProfileProperties(config, environment, List.of()),
                current.first(),
                current.get(),
                current.get())) {
            Problems problems = new Problems();
            assertThat(policies(read, problems)).containsOnlyKeys("search").allSatisfy((name, policy) -> {
                assertThat(policy.limits().limits()).hasToString("[2/1m sliding-window]");
                assertThat(policy.key()).hasToString("global");
                assertThat(policy.pathRule()).isPresent();
            });
            assertThat(problems.found()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    @Tag("field")
    void aMisspelledAttributeIsFoundInEachForm(Form form) {
        Config config = form.config(with(SEARCH, "ratelimit.policies.search.algoritm", "fixed-window"));
        Problems problems = new Problems();
        policies(CurrentConfig.of(config, form.environment.keySet()).first(), problems);
        assertThat(problems.found())
                .extracting(ConfigurationProblem::id)
                .containsExactlyElementsOf(form.lists ? List.of("WEIR-115") : List.of());
    }

    @Test
    void aMisspelledVariableIsNoProperty() {
        Map<String, String> environment =
                with(with(VARIABLES, "RATELIMIT_POLICIES_SEARCH_LIMT", "1/1m"), "_EU_RATELIMIT_TYPO", "x");
        Config config = new Form("", true, forms().findFirst().orElseThrow().sources, environment)
                .config(with(SEARCH, "mp.config.profile", "eu"));
        assertThat(config.getPropertyNames())
                .as("SmallRye Config derives names from variables")
                .contains("ratelimit.policies.search.limt");
        CurrentConfig current = CurrentConfig.of(config, environment.keySet());
        assertThat(current.first().names()).containsExactlyInAnyOrderElementsOf(SEARCH.keySet());
        assertThat(current.get().names()).containsExactlyInAnyOrderElementsOf(SEARCH.keySet());
    }

    @Test
    void theEnvironmentOfThisProcessIsKnownByItsContent() {
        Set<String> environment = System.getenv().keySet();
        assertThat(MicroProfileProperties.isEnvironment(
                        new EnvConfigSource(System.getenv(), 300).getPropertyNames(), environment))
                .isTrue();
        assertThat(MicroProfileProperties.isEnvironment(environment, environment))
                .isTrue();
        assertThat(MicroProfileProperties.isEnvironment(Set.of(), environment)).isFalse();
        assertThat(MicroProfileProperties.isEnvironment(SEARCH.keySet(), Set.of("RATELIMIT_POLICIES_SEARCH_LIMIT")))
                .isFalse();
    }

    @Test
    @Tag("field")
    void aSourceWithoutNamesIsReported() {
        ConfigSource vault = ChangingConfigSource.withoutNames("vault", 400, SEARCH);
        ConfigSource url = ChangingConfigSource.withoutNames("Db[jdbc:x://me:secret@db/x]", 400, Map.of());
        assertThat(startLog(vault, url))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("INFO WEIR-001 ")
                        .endsWith("\n  configuration sources without names: Db[jdbc:x://***@db/x], vault"))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("WARNING WEIR-016 Configuration sources [Db[jdbc:x://***@db/x], vault] list no"
                                + " property names."));
        assertThat(startLog(vault, new ChangingConfigSource("file", 100, Map.of("ratelimit.path-policies", "search"))))
                .anySatisfy(line -> assertThat(line).contains("policy search: 2/1m", "paths /api/hello"))
                .noneSatisfy(line -> assertThat(line).contains("WEIR-016"));
        assertThat(startLog(vault, new ChangingConfigSource("file", 100, Map.of("ratelimit.client-names", "none"))))
                .noneSatisfy(line -> assertThat(line).contains("WEIR-016"));
        assertThat(startLog(new ChangingConfigSource("file", 100, SEARCH)))
                .noneSatisfy(line -> assertThat(line).contains("without names"))
                .noneSatisfy(line -> assertThat(line).contains("WEIR-016"));
    }

    private static List<String> startLog(ConfigSource... sources) {
        Config config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new PropertiesConfigSource(Map.of(), "empty", 50))
                .withSources(sources)
                .build();
        try (LogCapture log = new LogCapture();
                Container container = Container.start(config)) {
            assertThat(container.application()).isNotNull();
            return log.lines();
        }
    }

    @Test
    @Tag("field")
    void aClientOfASourceWithoutNamesIsNamed() {
        Map<String, String> partner = Map.of("ratelimit.clients.partner.policy", "calls");
        Problems problems = new Problems();
        assertThat(ClientReader.read(
                        CurrentConfig.of(new SmallRyeConfigBuilder()
                                        .withSources(
                                                ChangingConfigSource.withoutNames("vault", 400, partner),
                                                new ChangingConfigSource(
                                                        "file", 100, Map.of("ratelimit.client-names", "partner")))
                                        .build())
                                .first(),
                        Map.of(),
                        Map.of(),
                        problems))
                .containsOnlyKeys("partner");
        assertThat(problems.found()).isEmpty();
        ClientReader.read(
                ConfigProperties.of(Map.of("ratelimit.client-names", "a b, none.such, missing")),
                Map.of(),
                Map.of(),
                problems);
        assertThat(problems.found())
                .extracting(ConfigurationProblem::id)
                .containsExactly("WEIR-233", "WEIR-233", "WEIR-232");
    }

    @Test
    @Tag("field")
    void aPropertyThatItsSourceDoesNotListIsFoundByTheFirstReload() {
        ChangingConfigSource file = new ChangingConfigSource("file", 100, SEARCH);
        ChangingConfigSource partial = new ChangingConfigSource("subset", 200, Map.of("another.property", "1")) {
            @Override
            public Set<String> getPropertyNames() {
                return Set.of("another.property");
            }
        };
        partial.properties.put("ratelimit.policies.search.mode", "shadow");
        try (LogCapture log = new LogCapture()) {
            CurrentConfig current = CurrentConfig.of(new SmallRyeConfigBuilder()
                    .addDefaultInterceptors()
                    .withSources(file, partial)
                    .build());
            assertThat(current.difference()).isEmpty();
            for (int reload = 1; reload <= 3; reload++) {
                assertThat(policies(current.get(), new Problems())
                                .get("search")
                                .rollout()
                                .mode())
                        .as("reload %d", reload)
                        .isEqualTo(Policy.Mode.SHADOW);
            }
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING WEIR-326 Configuration source subset has properties that it does not list.");
        }
    }

    @Test
    void aSettingThatItsSourceDoesNotListIsReadAtTheStart() {
        ChangingConfigSource partial = new ChangingConfigSource("subset", 200, Map.of("another.property", "1")) {
            @Override
            public Set<String> getPropertyNames() {
                return Set.of("another.property");
            }
        };
        partial.properties.put("ratelimit.key-secret", "secret");
        partial.properties.put("ratelimit.policies.search.mode", "shadow");
        CurrentConfig current = CurrentConfig.of(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new ChangingConfigSource("file", 100, SEARCH), partial)
                .build());
        assertThat(current.difference()).isEmpty();
        assertThat(current.first().get("ratelimit.key-secret").value()).contains("secret");
        assertThat(policies(current.first(), new Problems())
                        .get("search")
                        .rollout()
                        .mode())
                .isEqualTo(Policy.Mode.SHADOW);
    }
}
