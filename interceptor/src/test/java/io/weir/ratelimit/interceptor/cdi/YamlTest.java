// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.source.yaml.YamlConfigSource;
import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Bypass;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** Properties in YAML, as SmallRye Config and Helidon Config read it. */
class YamlTest {
    /** Values of properties without a default and without a list of literals. */
    private static final Map<String, String> EXAMPLES = Map.ofEntries(
            Map.entry("ratelimit.redis.address", "redis://a:6379, redis://b:6379"),
            Map.entry("ratelimit.redis.config", "classpath:redisson.yaml"),
            Map.entry("ratelimit.key-secret", "0123456789abcdef"),
            Map.entry("ratelimit.trusted-proxies", "10.0.0.0/8, 2001:db8::/32, ::1"),
            Map.entry("ratelimit.console.role", "operator"),
            Map.entry("ratelimit.console.grafana", "https://grafana.example.org/d/weir"),
            Map.entry("ratelimit.changes.role", "operator"),
            Map.entry("ratelimit.quota.path", "/rate-limits"),
            Map.entry("ratelimit.bypass.tokens", "9".repeat(64) + ", " + "a".repeat(64)),
            Map.entry("ratelimit.bypass.addresses", "10.0.0.0/8, ::1"),
            Map.entry("ratelimit.bypass.roles", "admin, monitor"),
            Map.entry("ratelimit.path-policies", "api, search"),
            Map.entry("ratelimit.client-names", "partner, other"),
            Map.entry("ratelimit.costs.\"Class.method\"", "7"),
            Map.entry("ratelimit.policies.<p>.limit", "10/1s, 10000/month"),
            Map.entry("ratelimit.policies.<p>.concurrency", "3"),
            Map.entry("ratelimit.policies.<p>.burst", "30"),
            Map.entry("ratelimit.policies.<p>.tier", "claim:plan | header:X-Plan"),
            Map.entry("ratelimit.policies.<p>.tiers.<t>.limit", "10/1s, 1000/1h"),
            Map.entry("ratelimit.policies.<p>.tiers.<t>.burst", "30"),
            Map.entry("ratelimit.policies.<p>.tiers.<t>.concurrency", "3"),
            Map.entry("ratelimit.policies.<p>.help", "https://example.org/2026-12-01"),
            Map.entry("ratelimit.policies.<p>.notify-at", "80%, 100%"),
            Map.entry("ratelimit.policies.<p>.penalty.after", "20/1m"),
            Map.entry("ratelimit.policies.<p>.penalty.for", "15m"),
            Map.entry("ratelimit.policies.<p>.penalty.factor", "2"),
            Map.entry("ratelimit.policies.<p>.penalty.max", "1d"),
            Map.entry("ratelimit.policies.<p>.paths", "/api/search, /api/orgs/{org}, /api/admin/*"),
            Map.entry("ratelimit.policies.<p>.methods", "GET, POST"),
            Map.entry("ratelimit.policies.<p>.costs.<path>", "5"),
            Map.entry("ratelimit.clients.<c>.policy", "partner, all"),
            Map.entry("ratelimit.envoy.socket", "/run/weir/envoy.sock"),
            Map.entry("ratelimit.envoy.tls.certificate", "/etc/weir/tls.crt"),
            Map.entry("ratelimit.envoy.tls.key", "/etc/weir/tls.key"),
            Map.entry("ratelimit.envoy.tls.client-ca", "/etc/weir/ca.crt"),
            Map.entry("ratelimit.envoy.config", "/etc/weir/edge.yaml, /etc/weir/mesh.yaml"));

    private final Problems problems = new Problems();

    /** A program that reads YAML. */
    enum Format {
        SMALLRYE {
            @Override
            ConfigSource source(String yaml) {
                return new YamlConfigSource("application.yaml", yaml, 110);
            }
        },

        /** Helidon Config keeps neither the quotes of a name nor a text of a list. */
        HELIDON {
            @Override
            ConfigSource source(String yaml) {
                Map<String, String> flat = new TreeMap<>();
                flatten("", new Yaml().load(yaml), flat);
                return new PropertiesConfigSource(flat, "application.yaml", 110);
            }
        };

        abstract ConfigSource source(String yaml);

        private static void flatten(String prefix, Object node, Map<String, String> flat) {
            if (node instanceof Map<?, ?> map) {
                map.forEach((name, value) -> flatten(prefix.isEmpty() ? "" + name : prefix + "." + name, value, flat));
            } else if (node instanceof List<?> list) {
                for (int i = 0; i < list.size(); i++) {
                    flatten(prefix + "." + i, list.get(i), flat);
                }
            } else {
                flat.put(prefix, String.valueOf(node));
            }
        }
    }

    private static ConfigProperties read(ConfigSource... sources) {
        return new MicroProfileProperties(new SmallRyeConfigBuilder()
                        .addDefaultInterceptors()
                        .withSources(sources)
                        .build())
                .withJoinedLists();
    }

    private static ConfigProperties properties(Map<String, String> values, int ordinal) {
        return read(new PropertiesConfigSource(values, "map", ordinal));
    }

    private LoadedPolicies load(ConfigProperties config, MethodLimits... methods) {
        return PolicyLoader.load(config, List.of(methods), new Resolvers(new KeyTerms(32, 64), Map.of()), problems);
    }

    private static MethodLimits method(String policy) {
        return new MethodLimits(MethodLimits.Name.of("Report.create"), List.of(policy), 0, Optional.empty());
    }

    private static Stream<Arguments> literals() {
        return ConfigKeys.all().stream()
                .flatMap(key -> literals(key)
                        .flatMap(literal ->
                                Stream.of(Format.values()).map(format -> Arguments.of(format, key.name(), literal))));
    }

    /** Returns each literal of an enumeration; of another form, the default or an example. */
    private static Stream<String> literals(ConfigKey<?> key) {
        String form = key.form().description();
        if (form.startsWith("one of ") || form.startsWith("none, or some of ")) {
            return Stream.concat(
                    form.startsWith("none") ? Stream.of("none") : Stream.empty(),
                    Arrays.stream(
                            form.replaceFirst("^(none, or some|one) of ", "").split(", ")));
        }
        String example = EXAMPLES.getOrDefault(key.name(), key.defaultText());
        assertThat(example).as("an example of %s", key.name()).isNotEmpty();
        return form.equals("true or false") ? Stream.of("true", "false") : Stream.of(example);
    }

    private static ConfigKey<?> key(String family) {
        return ConfigKeys.all().stream()
                .filter(key -> key.name().equals(family))
                .findFirst()
                .orElseThrow();
    }

    private static String name(String family) {
        return family.replace("<p>", "api")
                .replace("<t>", "gold")
                .replace("<c>", "partner")
                .replace("<path>", "\"/api/v1.0/search\"");
    }

    /** Writes a property as a block of YAML without quotes around the value. */
    private static String yaml(String name, String value) {
        StringBuilder lines = new StringBuilder();
        String indent = "";
        String[] parts = name.split("\\.(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");
        for (String part : parts) {
            lines.append(indent).append(part).append(":\n");
            indent += "  ";
        }
        lines.setLength(lines.length() - 1);
        return lines.append(' ').append(value).append('\n').toString();
    }

    @ParameterizedTest
    @MethodSource("literals")
    void yamlHasTheValueOfEachLiteral(Format format, String family, String literal) {
        String name = name(family);
        ConfigProperties config = read(format.source(yaml(name, literal)));
        String read = config.names().iterator().next();
        if (!name.contains("\"")) {
            assertThat(read).isEqualTo(name);
        }
        ConfigKey<?> key = key(family);
        assertThat(key.form().parse(config.get(read).value().orElseThrow()))
                .isEqualTo(key.form().parse(literal));
    }

    private static Stream<Arguments> lists() {
        return ConfigKeys.all().stream()
                .filter(key -> key.form().isList())
                .flatMap(key -> Stream.of(Format.values()).map(format -> Arguments.of(format, key.name())));
    }

    @ParameterizedTest
    @MethodSource("lists")
    @Tag("field")
    void yamlHasTheValueOfEachList(Format format, String family) {
        ConfigKey<?> key = key(family);
        String text = EXAMPLES.getOrDefault(family, key.defaultText());
        String list = Arrays.stream(text.split(", "))
                .map(element -> "\"" + element + "\"")
                .collect(Collectors.joining(", ", "[", "]"));
        ConfigProperties config = read(format.source(yaml(name(family), list)));
        assertThat(config.names()).containsExactly(name(family));
        assertThat(key.form()
                        .parse(config.get(name(family)).value().orElseThrow())
                        .toString()
                        .replace(" ", ""))
                .isEqualTo(key.form().parse(text).toString().replace(" ", ""));
    }

    @Test
    void eachFormWithSeveralValuesIsAList() {
        assertThat(ConfigKeys.all().stream()
                        .filter(key -> !key.form().isList())
                        .map(key -> key.form().description()))
                .noneMatch(form -> form.contains("commas") || form.contains("some of") || form.contains("ranges"));
    }

    @ParameterizedTest
    @EnumSource(Format.class)
    @Tag("field")
    void listsOfAPolicyApply(Format format) {
        LoadedPolicies loaded = load(read(format.source("""
                ratelimit:
                  trusted-proxies: [10.0.0.0/8, "::1"]
                  policies:
                    hello: {limit: [2/1m, 100/1h], notify-at: ["80%", "100%"], paths: [/api/hello, /api/v1.0/x]}
                """)));
        assertThat(problems.found()).isEmpty();
        Policy hello = loaded.policies().get("hello");
        assertThat(hello.limits().limits()).hasSize(2);
        assertThat(hello.notifyAt()).containsExactly(80, 100);
        assertThat(hello.pathRule().orElseThrow().paths()).hasSize(2);
    }

    @Test
    @Tag("field")
    void theElementsOfASourceWithoutATextAreTheList() {
        for (String form : List.of("%s[%d]", "%s.%d", "%s.[%d]")) {
            String name = "ratelimit.policies.api.paths";
            ConfigProperties config = properties(
                    Map.of(
                            form.formatted(name, 10), "/k",
                            form.formatted(name, 0), "/a",
                            form.formatted(name, 2), "/c"),
                    100);
            assertThat(config.names()).containsExactly(name);
            assertThat(config.get(name).value()).contains("/a,/c,/k");
            assertThat(config.source(name)).isEqualTo("map");
        }
    }

    @Test
    @Tag("field")
    void aListOfAProfileReplacesTheOneBelowIt() {
        String base = """
                ratelimit:
                  trusted-proxies: [10.0.0.0/8, 192.168.0.0/16]
                """;
        String profile = """
                ratelimit:
                  trusted-proxies: [172.16.0.0/12]
                """;
        assertThat(read(
                                new YamlConfigSource("application.yaml", base, 110),
                                new YamlConfigSource("application-prod.yaml", profile, 115))
                        .get("ratelimit.trusted-proxies")
                        .value())
                .contains("172.16.0.0/12");
        ConfigProperties elements = read(
                new PropertiesConfigSource(
                        Map.of("ratelimit.bypass.roles.0", "a", "ratelimit.bypass.roles.1", "b"), "base", 110),
                new PropertiesConfigSource(Map.of("ratelimit.bypass.roles.0", "c"), "prod", 115));
        assertThat(elements.get("ratelimit.bypass.roles").sources()).containsExactly("base", "prod");
        Bypass.read(elements, problems);
        assertThat(problems.lines())
                .singleElement()
                .asString()
                .contains("WEIR-101 ratelimit.bypass.roles", "come from several sources: base, prod");
    }

    @Test
    void theSourceWithTheHighestOrdinalSetsTheList() {
        String name = "ratelimit.trusted-proxies";
        Map<String, String> elements = Map.of(name + ".0", "10.0.0.0/8", name + ".1", "::1");
        assertThat(read(
                                new PropertiesConfigSource(elements, "yaml", 110),
                                new PropertiesConfigSource(Map.of(name, "1.1.1.1"), "system", 400))
                        .get(name)
                        .value())
                .contains("1.1.1.1");
        ConfigProperties lower = read(
                new PropertiesConfigSource(elements, "yaml", 110),
                new PropertiesConfigSource(Map.of(name, "1.1.1.1"), "properties", 100));
        assertThat(lower.get(name).value()).contains("10.0.0.0/8,::1");
        assertThat(lower.source(name)).isEqualTo("yaml");
    }

    @Test
    @Tag("field")
    void aListInBracketsIsRejected() {
        ConfigProperties config = properties(
                Map.of(
                        "ratelimit.bypass.roles", "[admin, ops]",
                        "ratelimit.bypass.addresses", "[\"127.0.0.0/8\",\"::1/128\"]"),
                100);
        Bypass.read(config, problems);
        assertThat(problems.lines()).hasSize(2).allMatch(line -> line.contains("WEIR-102"));
        assertThat(problems.lines())
                .anyMatch(line -> line.contains("bypass.roles = [admin, ops]: is a list in brackets"));
    }

    @Test
    void anElementOfASingleValueIsUnknown() {
        load(properties(Map.of("ratelimit.policies.api.limit", "1/1m", "ratelimit.policies.api.mode[0]", "off"), 100));
        assertThat(problems.lines()).singleElement().asString().contains("WEIR-115", "mode[0]");
    }

    @ParameterizedTest
    @EnumSource(Format.class)
    @Tag("field")
    void namesOfPoliciesNeedNoQuotesInQuotes(Format format) {
        LoadedPolicies loaded = load(read(format.source("""
                        ratelimit:
                          policies:
                            "Report.create": {limit: 3/10s, tier: header:X-Plan, tiers: {gold: {limit: 30/10s}}, paths: [/a]}
                        """)), method("Report.create"));
        assertThat(problems.found()).isEmpty();
        Policy policy = loaded.policies().get("Report.create");
        assertThat(policy.limits().limits()).singleElement().hasToString("3/10s sliding-window");
        assertThat(policy.tiers().limits()).containsOnlyKeys("gold");
        assertThat(policy.pathRule()).isPresent();
    }

    @Test
    @Tag("field")
    void aPolicyThatNoMethodNamesNeedsQuotesInQuotes() {
        String yaml = "ratelimit: {policies: {\"Report.create\": {limit: 3/10s}}}";
        load(read(Format.HELIDON.source(yaml)));
        assertThat(problems.lines())
                .singleElement()
                .asString()
                .contains("WEIR-115 ratelimit.policies.Report.create.limit")
                .contains("ratelimit.policies.\"Report.create\".limit", "'\"Report.create\"'");
        Problems none = new Problems();
        PolicyLoader.load(
                read(Format.HELIDON.source(yaml.replace("\"Report.create\"", "'\"Report.create\"'"))),
                List.of(),
                new Resolvers(new KeyTerms(32, 64), Map.of()),
                none);
        assertThat(none.found()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"HELIDON, how-to/helidon.md", "SMALLRYE, reference/configuration.md"})
    void theSnippetsOfThePagesAreValid(Format format, String page) throws IOException {
        String text = Files.readString(Path.of("../docs").resolve(page));
        String yaml = text.substring(text.indexOf("```yaml\nratelimit:") + "```yaml\n".length());
        LoadedPolicies loaded = load(read(format.source(yaml.substring(0, yaml.indexOf("```")))));
        assertThat(problems.found()).isEmpty();
        assertThat(loaded.policies().get("hello").limits().limits()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "OFF", "Off", "no", "False", "false", "\"off\""})
    @Tag("field")
    void offWithoutQuotesIsTheModeOff(String word) {
        for (Format format : Format.values()) {
            LoadedPolicies loaded =
                    load(read(format.source("ratelimit: {policies: {hello: {limit: 2/1m, mode: " + word + "}}}")));
            assertThat(problems.found()).isEmpty();
            assertThat(loaded.policies().get("hello").rollout().mode()).isEqualTo(Policy.Mode.OFF);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "yes", "true", "0"})
    @Tag("field")
    void otherTruthValuesAreNoMode(String word) {
        load(read(Format.SMALLRYE.source("ratelimit: {policies: {hello: {limit: 2/1m, mode: " + word + "}}}")));
        assertThat(problems.lines()).singleElement().asString().contains("WEIR-102", "one of enforce, shadow, off");
    }
}
