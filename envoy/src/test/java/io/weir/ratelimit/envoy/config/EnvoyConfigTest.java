// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules of configuration files, with the published examples of the service of Envoy. */
class EnvoyConfigTest {
    @TempDir
    private Path folder;

    private List<ConfigurationProblem> problems = List.of();

    private EnvoyConfig read(String... texts) throws Exception {
        List<Path> files = new ArrayList<>();
        for (String text : texts) {
            files.add(Files.writeString(folder.resolve("file" + files.size() + ".yaml"), text));
        }
        EnvoyConfigReader reader = new EnvoyConfigReader();
        EnvoyConfig config = reader.read(files);
        problems = reader.problems();
        return config;
    }

    private static List<RateLimitDescriptor.Entry> entries(String... keysAndValues) {
        List<RateLimitDescriptor.Entry> entries = new ArrayList<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            entries.add(RateLimitDescriptor.Entry.newBuilder()
                    .setKey(keysAndValues[i])
                    .setValue(keysAndValues[i + 1])
                    .build());
        }
        return entries;
    }

    /** Returns the limit of a descriptor, with the key expression and the mode; empty if no limit applies. */
    private static String limit(EnvoyConfig config, String domain, String... descriptor) {
        return config.match(domain, entries(descriptor))
                .map(EnvoyConfig.Match::rule)
                .map(rule -> rule.policy()
                        .map(policy -> "ratelimit.policies.\"" + policy + "\".")
                        .map(name -> config.properties().get(name + "limit") + " by "
                                + config.properties().get(name + "key")
                                + Optional.ofNullable(config.properties().get(name + "mode"))
                                        .map(" in "::concat)
                                        .orElse(""))
                        .orElse("unlimited"))
                .orElse("");
    }

    private static String rule(String unit, int requests) {
        return "rate_limit: { unit: " + unit + ", requests_per_unit: " + requests + " }";
    }

    @Test
    void valuesHaveLimitsOfTheirOwn() throws Exception {
        EnvoyConfig config = read("domain: mongo_cps\ndescriptors:\n"
                + "  - { key: database, value: users, " + rule("second", 500) + " }\n"
                + "  - { key: database, value: default, " + rule("second", 500) + " }\n");
        assertThat(problems).isEmpty();
        assertThat(limit(config, "mongo_cps", "database", "users")).isEqualTo("500/1s by global");
        assertThat(limit(config, "mongo_cps", "database", "other")).isEmpty();
        assertThat(limit(config, "other", "database", "users")).isEmpty();
        assertThat(config.properties())
                .containsEntry("ratelimit.policies.\"mongo_cps.database_users\".algorithm", "fixed-window");
    }

    @Test
    void nestedDescriptorsLimitEachValue() throws Exception {
        EnvoyConfig config = read("domain: messaging\ndescriptors:\n"
                + "  - key: message_type\n    value: marketing\n    descriptors:\n"
                + "      - { key: to_number, " + rule("day", 5) + " }\n"
                + "  - { key: to_number, " + rule("day", 100) + " }\n");
        assertThat(limit(config, "messaging", "message_type", "marketing", "to_number", "1"))
                .isEqualTo("5/day by to_number");
        assertThat(limit(config, "messaging", "to_number", "1")).isEqualTo("100/day by to_number");
        assertThat(limit(config, "messaging", "message_type", "marketing")).isEmpty();
    }

    @Test
    void theMostSpecificDescriptorApplies() throws Exception {
        EnvoyConfig config = read("domain: edge_proxy_per_ip\ndescriptors:\n"
                + "  - { key: remote_address, " + rule("second", 10) + " }\n"
                + "  - { key: remote_address, value: 50.0.0.5, " + rule("second", 0) + " }\n");
        assertThat(limit(config, "edge_proxy_per_ip", "remote_address", "50.0.0.1"))
                .isEqualTo("10/1s by ip");
        assertThat(limit(config, "edge_proxy_per_ip", "remote_address", "50.0.0.5"))
                .isEqualTo("0/1s by global");
    }

    @Test
    void aDescriptorHasAsManyEntriesAsLevels() throws Exception {
        EnvoyConfig flat = read(
                "domain: example4\ndescriptors:\n" + "  - { key: key, value: value, " + rule("second", 300) + " }\n");
        assertThat(limit(flat, "example4", "key", "value", "subkey", "subvalue"))
                .isEmpty();
        EnvoyConfig nested = read("domain: example4\ndescriptors:\n  - key: key\n    value: value\n    descriptors:\n"
                + "      - { key: subkey, " + rule("second", 300) + " }\n");
        assertThat(limit(nested, "example4", "key", "value", "subkey", "subvalue"))
                .isEqualTo("300/1s by subkey");
    }

    @Test
    void aDescriptorCanBeUnlimited() throws Exception {
        EnvoyConfig config = read("domain: internal\ndescriptors:\n"
                + "  - { key: ldap, rate_limit: { unlimited: true } }\n"
                + "  - { key: azure, " + rule("minute", 100) + " }\n");
        assertThat(limit(config, "internal", "ldap", "x")).isEqualTo("unlimited");
        assertThat(limit(config, "internal", "azure", "x")).isEqualTo("100/minute by azure");
    }

    @Test
    void shadowModeIsAMode() throws Exception {
        EnvoyConfig config = read("domain: example6\ndescriptors:\n  - key: service\n    descriptors:\n"
                + "      - { key: user, value: user-a, shadow_mode: true, " + rule("second", 10) + " }\n"
                + "      - { key: user, value: user-b, " + rule("second", 20) + " }\n");
        assertThat(limit(config, "example6", "service", "auth", "user", "user-a"))
                .isEqualTo("10/1s by service in shadow");
        assertThat(limit(config, "example6", "service", "auth", "user", "user-b"))
                .isEqualTo("20/1s by service");
    }

    @Test
    void aRuleReplacesOthers() throws Exception {
        EnvoyConfig config = read(
                "domain: example7\ndescriptors:\n"
                        + "  - { key: a, rate_limit: { name: specific, unit: second, requests_per_unit: 5 } }\n"
                        + "  - { key: b, rate_limit: { replaces: [{ name: specific }], unit: second, requests_per_unit: 10 } }\n");
        assertThat(problems).isEmpty();
        assertThat(config.match("example7", entries("b", "x"))
                        .orElseThrow()
                        .rule()
                        .replaces())
                .containsExactly("specific");
        assertThat(config.match("example7", entries("a", "x"))
                        .orElseThrow()
                        .rule()
                        .name())
                .isEqualTo("specific");
    }

    @Test
    void fieldsForMetricsHaveNoEffect() throws Exception {
        read("domain: example8\ndescriptors:\n  - { key: key1, detailed_metric: true, " + rule("minute", 10) + " }\n");
        assertThat(problems).isEmpty();
    }

    @Test
    void aWildcardFitsValuesAfterExactOnes() throws Exception {
        EnvoyConfig config = read("domain: example9\ndescriptors:\n"
                + "  - { key: key1, value: value*, " + rule("minute", 20) + " }\n"
                + "  - { key: key1, value: value1, " + rule("minute", 1) + " }\n"
                + "  - { key: key1, " + rule("minute", 7) + " }\n"
                + "  - { key: files, value: files/*, share_threshold: true, " + rule("minute", 3) + " }\n");
        assertThat(limit(config, "example9", "key1", "value1")).isEqualTo("1/minute by global");
        assertThat(limit(config, "example9", "key1", "value2")).isEqualTo("20/minute by key1");
        assertThat(limit(config, "example9", "key1", "other")).isEqualTo("7/minute by key1");
        assertThat(limit(config, "example9", "files", "files/a")).isEqualTo("3/minute by global");
    }

    @Tag("field")
    @Test
    @Timeout(60)
    void anAsteriskStandsForAnyPartOfAValue() throws Exception {
        EnvoyConfig config = read("domain: d\ndescriptors:\n"
                + "  - { key: host, value: '*.example.com', " + rule("minute", 1) + " }\n"
                + "  - { key: route, value: '/users/*/orders', " + rule("minute", 2) + " }\n"
                + "  - { key: route, value: '/a/*/b*', " + rule("minute", 3) + " }\n"
                + "  - { key: route, value: 'ab*ba', " + rule("minute", 4) + " }\n"
                + "  - { key: route, value: '" + "*x".repeat(50) + "*y', " + rule("minute", 5) + " }\n");
        assertThat(limit(config, "d", "host", "shop.example.com")).isEqualTo("1/minute by host");
        assertThat(limit(config, "d", "host", ".example.com")).isEqualTo("1/minute by host");
        assertThat(limit(config, "d", "host", "example.com")).isEmpty();
        assertThat(limit(config, "d", "route", "/users/7/orders")).isEqualTo("2/minute by route");
        assertThat(limit(config, "d", "route", "/users/7/orders/1")).isEmpty();
        assertThat(limit(config, "d", "host", "/users/7/orders")).isEmpty();
        assertThat(limit(config, "d", "route", "/a/1/2/b/3")).isEqualTo("3/minute by route");
        assertThat(limit(config, "d", "route", "/a/b")).isEmpty();
        assertThat(limit(config, "d", "route", "abba")).isEqualTo("4/minute by route");
        assertThat(limit(config, "d", "route", "aba")).isEmpty();
        assertThat(limit(config, "d", "route", "x".repeat(50) + "y")).isEqualTo("5/minute by route");
        assertThat(limit(config, "d", "route", "x".repeat(100_000))).isEmpty();
    }

    @Tag("field")
    @Test
    void aSharedWildcardIsNoPartOfAnyKey() throws Exception {
        EnvoyConfig config = read("domain: d\ndescriptors:\n"
                + "  - key: route\n    value: api/*\n    share_threshold: true\n    descriptors:\n"
                + "      - { key: method, " + rule("hour", 4) + " }\n");
        assertThat(problems).isEmpty();
        assertThat(limit(config, "d", "route", "api/a", "method", "GET")).isEqualTo("4/hour by method");
        read("domain: d\ndescriptors:\n  - { key: k, value: v, share_threshold: true, " + rule("hour", 4) + " }\n");
        assertThat(problems).singleElement().asString().contains("file0.yaml:3", "share_threshold needs a value");
    }

    private static String name(EnvoyConfig config, String... descriptor) {
        return config.match("d", entries(descriptor))
                .flatMap(match -> match.rule().policy())
                .orElse("");
    }

    @Tag("field")
    @Test
    void theNameOfAPolicyDoesNotDependOnOtherDescriptors() throws Exception {
        String first = "  - { key: k, value: 'a b', " + rule("hour", 1) + " }\n";
        String second = "  - { key: k, value: 'a+b', " + rule("hour", 2) + " }\n";
        String third = "  - { key: k, value: '" + "x".repeat(200) + "1', " + rule("hour", 3) + " }\n";
        String fourth = "  - { key: k, value: '" + "x".repeat(200) + "2', " + rule("hour", 4) + " }\n";
        EnvoyConfig alone = read("domain: d\ndescriptors:\n" + second + fourth);
        EnvoyConfig all = read("domain: d\ndescriptors:\n" + first + second + third + fourth);
        assertThat(problems).isEmpty();
        assertThat(all.policies()).hasSize(4).allMatch(name -> name.matches("[A-Za-z0-9._-]{1,128}"));
        assertThat(name(all, "k", "a+b")).isEqualTo(name(alone, "k", "a+b"));
        assertThat(name(all, "k", "x".repeat(200) + "2")).isEqualTo(name(alone, "k", "x".repeat(200) + "2"));
    }

    @Tag("field")
    @Test
    void twoDescriptorsOfOneNameAreAnError() throws Exception {
        read("domain: d\ndescriptors:\n  - { key: a, value: b, " + rule("hour", 1) + " }\n  - { key: a_b, "
                + rule("hour", 2) + " }\n");
        assertThat(problems).singleElement().asString().contains("file0.yaml:4", "d.a_b", "another descriptor");
    }

    @Tag("field")
    @Test
    void eachUnitIsALimit() throws Exception {
        for (String unit : List.of("minute", "hour", "day", "week", "month", "year", "HOUR")) {
            EnvoyConfig config = read("domain: d\ndescriptors:\n  - { key: k, value: v, " + rule(unit, 4) + " }\n");
            assertThat(problems).as(unit).isEmpty();
            assertThat(limit(config, "d", "k", "v")).isEqualTo("4/" + unit.toLowerCase(Locale.ROOT) + " by global");
        }
    }

    @Test
    void twoEntriesOfOneNameAreTwoParts() throws Exception {
        EnvoyConfig config = read("domain: d\ndescriptors:\n  - key: k\n    descriptors:\n      - { key: k, "
                + rule("hour", 4) + " }\n  - { key: 'a b', " + rule("hour", 2) + " }\n");
        assertThat(limit(config, "d", "k", "1", "k", "2")).isEqualTo("4/hour by k + entry_k_2");
        assertThat(config.match("d", entries("k", "1", "k", "2")).orElseThrow().values())
                .isEqualTo(Map.of("k", "1", "entry_k_2", "2"));
        assertThat(limit(config, "d", "a b", "1")).isEqualTo("2/hour by entry_a_b");
    }

    @Test
    void allProblemsHaveTheirLine() throws Exception {
        read("""
                domain: d
                descriptors:
                  - key: a
                    rate_limits: {}
                  - value: x
                  - key: b
                    rate_limit:
                      unit: fortnight
                      requests_per_unit: many
                      shadow_mode: true
                  - key: c
                    shadow_mode: perhaps
                    rate_limit: { unlimited: true, unit: day }
                  - key: a
                  - key: e
                    rate_limit: { unit: day, requests_per_unit: 1, name: n, replaces: [{ name: n }] }
                """, "descriptors: x\n", "domain: [", "");
        assertThat(problems.stream().map(ConfigurationProblem::toString))
                .satisfiesExactlyInAnyOrder(
                        problem -> assertThat(problem).contains("file0.yaml:4", "rate_limits", "WEIR-711"),
                        problem -> assertThat(problem).contains("file0.yaml:5", "key is required"),
                        problem -> assertThat(problem).contains("file0.yaml:8", "unit must be one of"),
                        problem -> assertThat(problem).contains("file0.yaml:9", "requests_per_unit is required"),
                        problem -> assertThat(problem).contains("file0.yaml:10", "shadow_mode", "WEIR-711"),
                        problem -> assertThat(problem).contains("file0.yaml:12", "shadow_mode must be true or false"),
                        problem -> assertThat(problem).contains("file0.yaml:13", "unit has no effect"),
                        problem -> assertThat(problem).contains("file0.yaml:14", "already"),
                        problem -> assertThat(problem).contains("file0.yaml:16", "name of the same descriptor"),
                        problem -> assertThat(problem).contains("file1.yaml:1", "domain is required"),
                        problem -> assertThat(problem).contains("file1.yaml:1", "descriptors must be a list"),
                        problem -> assertThat(problem).contains("file2.yaml", "WEIR-710"),
                        problem -> assertThat(problem).contains("file3.yaml", "empty"));
    }

    @Test
    @Tag("field")
    void anObjectCanMergeOthers() throws Exception {
        EnvoyConfig config = read("""
                domain: d
                descriptors:
                  - &a { key: a, rate_limit: &hourly { unit: hour, requests_per_unit: 5 } }
                  - { <<: *a, key: b }
                  - { key: c, rate_limit: { requests_per_unit: 7, <<: *hourly } }
                  - { key: e, rate_limit: { <<: [{ <<: { unit: day } }, *hourly] } }
                """);
        assertThat(problems).isEmpty();
        assertThat(limit(config, "d", "a", "1")).isEqualTo("5/hour by a");
        assertThat(limit(config, "d", "b", "1")).isEqualTo("5/hour by b");
        assertThat(limit(config, "d", "c", "1")).isEqualTo("7/hour by c");
        assertThat(limit(config, "d", "e", "1")).isEqualTo("5/day by e");
        read("domain: d\ndescriptors:\n  - { <<: a, key: b }\n");
        assertThat(problems).singleElement().asString().contains("file0.yaml:3", "<< must be an object");
    }

    @Test
    @Tag("field")
    void aliasesAreBoundedByTheirSize() throws Exception {
        StringBuilder many = new StringBuilder("domain: d\ndescriptors:\n  - { key: k, rate_limit: &limit ")
                .append("{ unit: day, requests_per_unit: 1 } }\n");
        for (int i = 0; i < 500; i++) {
            many.append("  - { key: k").append(i).append(", rate_limit: *limit }\n");
        }
        read(many.toString());
        assertThat(problems).isEmpty();

        String level = "  - {key: k%d, descriptors: &l%d [{key: a, descriptors: *l%d}, {key: b, descriptors: *l%d}]}\n";
        StringBuilder growing = new StringBuilder("domain: d\ndescriptors:\n  - { key: k, descriptors: &l0 [] }\n");
        for (int i = 0; i < 24; i++) {
            growing.append(level.formatted(i, i + 1, i, i));
        }
        read(growing.toString());
        assertThat(problems).singleElement().asString().contains("WEIR-710", "with its aliases, the file has more");

        read("domain: d\ndescriptors: &all [{ key: k, descriptors: *all }]\n");
        assertThat(problems).singleElement().asString().contains("WEIR-710", "line 2 contains itself");
    }

    @Test
    void aDomainHasOneFile() throws Exception {
        read("domain: d\ndescriptors: []\n", "domain: d\ndescriptors: []\n");
        assertThat(problems).singleElement().asString().contains("file1.yaml:1", "another file");
    }

    /** A file that is being written can end after its domain. */
    @Test
    void aDomainWithoutDescriptorsIsAnErrorAndAnEmptyListIsNone() throws Exception {
        for (String missing : List.of("domain: d\n", "domain: d\ndescriptors:\n", "domain: d\ndescriptors: ~\n")) {
            read(missing);
            assertThat(problems).singleElement().asString().contains("file0.yaml:", "WEIR-712", "descriptors: []");
        }
        assertThat(read("domain: d\ndescriptors: []\n").has("d")).isTrue();
        assertThat(problems).isEmpty();
    }

    @Test
    void propertiesPrecedeFilesAndAnInvalidFileChangesNothing() throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.yaml"), "domain: d\ndescriptors:\n  - { key: k, " + rule("hour", 4) + " }\n");
        EnvoyConfigLayer layer = new EnvoyConfigLayer();
        String limit = "ratelimit.policies.\"d.k\".limit";
        String name = "ratelimit.envoy.config";
        ConfigProperties first = layer.over(ConfigProperties.of(Map.of(name, file.toString())));
        assertThat(first.get(limit).value()).contains("4/hour");
        assertThat(first.source(limit)).isEqualTo(file.toString());
        assertThat(first.names()).contains(limit, name);
        assertThat(layer.over(ConfigProperties.of(Map.of(name, file.toString(), limit, "9/1m")))
                        .get(limit)
                        .value())
                .contains("9/1m");
        Files.writeString(file, "domain: d\ndescriptors: []\nother: x\n");
        ConfigProperties invalid = layer.over(ConfigProperties.of(Map.of(name, file.toString())));
        assertThat(invalid.problems()).hasSize(1);
        assertThat(invalid.get(limit).value()).contains("4/hour");
        ConfigProperties unreadable = layer.over(ConfigProperties.of(Map.of(name, "${FILE}")));
        assertThat(unreadable.problems()).singleElement().asString().contains("WEIR-101", name);
        assertThat(unreadable.get(limit).value()).contains("4/hour");
    }

    @Test
    void newRulesApplyWithTheirPolicies() throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.yaml"), "domain: d\ndescriptors:\n  - { key: k, " + rule("hour", 4) + " }\n");
        EnvoyConfigLayer layer = new EnvoyConfigLayer();
        layer.over(ConfigProperties.of(Map.of("ratelimit.envoy.config", file.toString())));
        assertThat(layer.config(Map.of()).has("d")).isFalse();
        Policy policy = Policy.builder(
                        new PolicyLimits("d.k", List.of(Limit.of(Algorithm.FIXED_WINDOW, 4, Duration.ofHours(1)))),
                        KeyExpression.parse("global", new KeyTerms(32, 64)))
                .build();
        Map<String, Policy> policies = Map.of("d.k", policy);
        assertThat(layer.config(policies).has("d")).isTrue();
        Files.writeString(
                file,
                "domain: d\ndescriptors:\n  - { key: k, " + rule("hour", 4) + " }\n  - { key: l, " + rule("hour", 4)
                        + " }\n");
        layer.over(ConfigProperties.of(Map.of("ratelimit.envoy.config", file.toString())));
        assertThat(layer.config(policies).policies()).containsExactly("d.k");
        assertThat(layer.config(Map.of("d.k", policy, "d.l", policy)).policies())
                .containsExactlyInAnyOrder("d.k", "d.l");
    }
}
