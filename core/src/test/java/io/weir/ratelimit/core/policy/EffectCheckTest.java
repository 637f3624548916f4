// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.message.MessageCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EffectCheckTest {
    private static final String P = "ratelimit.policies.api.";

    /** A policy that gives an effect to no attribute of the others. */
    private static final String[] PLAIN = {P + "limit=100/1m"};

    /** The properties of another check: what they miss fails the deployment, or is a warning of the module interceptor. */
    private static final Set<String> OF_OTHER_CHECKS = Set.of(
            "ratelimit.policies.<p>.burst", // WEIR-116, WEIR-133
            "ratelimit.policies.<p>.notify-at", // WEIR-133
            "ratelimit.policies.<p>.tier", // WEIR-119
            "ratelimit.policies.<p>.tiers.<t>.limit", // WEIR-119
            "ratelimit.policies.<p>.tiers.<t>.burst", // WEIR-110, WEIR-116
            "ratelimit.policies.<p>.tiers.<t>.concurrency", // WEIR-119
            "ratelimit.policies.<p>.penalty.for", // WEIR-137
            "ratelimit.policies.<p>.penalty.factor", // WEIR-137
            "ratelimit.policies.<p>.penalty.max", // WEIR-137
            "ratelimit.policies.<p>.methods", // WEIR-121
            "ratelimit.policies.<p>.phase", // WEIR-121
            "ratelimit.receipts", // WEIR-730
            "ratelimit.envoy.address", // WEIR-705
            "ratelimit.envoy.port", // WEIR-705
            "ratelimit.envoy.tls.certificate", // WEIR-703
            "ratelimit.envoy.tls.key", // WEIR-703
            "ratelimit.envoy.tls.client-ca", // WEIR-703
            "ratelimit.clients.<c>.max-pause"); // WEIR-015 of ClientWarnings

    /** The properties that have an effect in each application, or whose effect depends on the backend or on code only. */
    private static final Set<String> ALWAYS = Set.of(
            "ratelimit.enabled",
            "ratelimit.backend",
            "ratelimit.namespace",
            "ratelimit.redis.address",
            "ratelimit.redis.config",
            "ratelimit.redis.deadline",
            "ratelimit.key-secret",
            "ratelimit.ipv4-prefix",
            "ratelimit.ipv6-prefix",
            "ratelimit.trusted-proxies",
            "ratelimit.headers",
            "ratelimit.local.max-keys",
            "ratelimit.metrics",
            "ratelimit.reload-interval",
            "ratelimit.instances",
            "ratelimit.health.fail-when-degraded",
            "ratelimit.console.enabled",
            "ratelimit.changes.enabled",
            "ratelimit.quota.path",
            "ratelimit.envoy.socket",
            "ratelimit.envoy.drain",
            "ratelimit.envoy.stop-timeout",
            "ratelimit.envoy.reflection",
            "ratelimit.envoy.config",
            "ratelimit.envoy.all-or-nothing",
            "ratelimit.envoy.limit-overrides",
            "ratelimit.envoy.over-limit",
            "ratelimit.bypass.tokens",
            "ratelimit.bypass.addresses",
            "ratelimit.bypass.roles",
            "ratelimit.path-policies",
            "ratelimit.client-names",
            "ratelimit.costs.\"Class.method\"",
            "ratelimit.policies.<p>.limit",
            "ratelimit.policies.<p>.concurrency",
            "ratelimit.policies.<p>.key",
            "ratelimit.policies.<p>.cost",
            "ratelimit.policies.<p>.max-wait",
            "ratelimit.policies.<p>.lease",
            "ratelimit.policies.<p>.mode",
            "ratelimit.policies.<p>.count",
            "ratelimit.policies.<p>.disclosure",
            "ratelimit.policies.<p>.help",
            "ratelimit.policies.<p>.paths",
            "ratelimit.policies.<p>.costs.<path>",
            "ratelimit.policies.<p>.on-failure",
            "ratelimit.clients.<c>.policy",
            "ratelimit.clients.<c>.key",
            "ratelimit.clients.<c>.obey",
            "ratelimit.clients.<c>.retry-budget");

    private static List<String> warnings(String... lines) {
        ConfigProperties config = Configs.of(lines);
        Problems problems = new Problems();
        LoadedPolicies loaded =
                PolicyLoader.load(config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems);
        assertThat(problems.found()).isEmpty();
        return Stream.concat(
                        EffectCheck.ofPolicies(loaded.policies(), loaded.origins()).stream(),
                        EffectCheck.ofApplication(config).stream())
                .map(MessageCatalog.Message::text)
                .toList();
    }

    private static String[] and(String[] lines, String... more) {
        List<String> all = new ArrayList<>(List.of(lines));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    /** An attribute, a policy in which it has an effect, and one in which it has none. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            zone=Europe/Berlin;     limit=10/1s, 1000/month;                                limit=100/30d
            zone=Europe/Berlin;     limit=9/1d & tier=header:X & tiers.gold.limit=5/day;    limit=9/1d & tier=header:X & tiers.gold.limit=5/2d
            anchor=15;              limit=1000/month;                                       limit=100/week
            anchor=15;              limit=1000/quarter;                                     limit=5/day
            anchor=15;              limit=1000/year;                                        limit=100/30d
            concurrency-timeout=5m; limit=9/1s & concurrency=2;                             limit=2/1m
            concurrency-timeout=5m; limit=9/1s & tier=header:X & tiers.gold.limit=5/1d & tiers.gold.concurrency=2; limit=9/1s & tier=header:X & tiers.gold.limit=5/1d
            max-waiting=5;          limit=9/1s & max-wait=1s;                               limit=9/1s & max-wait=0s
            algorithm=token-bucket; limit=1000/month, 5/1s;                                 limit=1000/month
            algorithm=fixed-window; limit=9/day & tier=header:X & tiers.gold.limit=5/1s;    limit=9/day & tier=header:X & tiers.gold.limit=5/day
            enforce-percent=10;     limit=9/1s & mode=shadow;                               limit=9/1s & mode=off
            penalty.after=100/1m;   limit=9/1s & penalty.for=1m;                            limit=9/1s & penalty.for=1m & mode=shadow
            penalty.after=100/1m;   limit=9/1s & penalty.for=1m & mode=shadow & enforce-percent=1; limit=9/1s & penalty.for=1m & mode=shadow
            penalty.after=100/1m;   limit=9/1s & penalty.for=1m & mode=off;                 limit=9/1s & penalty.for=1m & mode=shadow
            """)
    @Tag("field")
    void anAttributeHasAnEffectWithAnother(String attribute, String effective, String without) {
        String property = P + attribute.substring(0, attribute.indexOf('='));
        assertThat(warnings(lines(effective, attribute))).isEmpty();
        assertThat(warnings(lines(without, attribute)))
                .singleElement()
                .asString()
                .startsWith("WEIR-015 " + property + " has no effect unless " + P)
                .endsWith(" Set that as well, or remove " + property + ".");
    }

    private static String[] lines(String attributes, String attribute) {
        return Stream.concat(Stream.of(attributes.split(" & ")), Stream.of(attribute))
                .map(P::concat)
                .toArray(String[]::new);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            console.role=ops;               console.enabled=true
            console.open=true;              console.enabled=true
            console.grafana=http://g.test;  console.enabled=true
            console.role=ops;               console.enabled=false
            changes.role=ops;               changes.enabled=false
            bypass.header=X-Skip;           bypass.tokens=aa
            forwarded-header=forwarded;     trusted-proxies=10.0.0.0/8
            """)
    @Tag("field")
    void aPropertyOfTheApplicationHasAnEffectWithAnother(String property, String needed) {
        String name = "ratelimit." + property.substring(0, property.indexOf('='));
        assertThat(warnings(and(PLAIN, "ratelimit." + property)))
                .singleElement()
                .asString()
                .startsWith("WEIR-015 " + name + " has no effect unless ratelimit."
                        + needed.substring(0, needed.indexOf('=')) + " has a value such as ");
        assertThat(warnings(and(PLAIN, "ratelimit." + property, "ratelimit." + needed)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"zone=UTC", "anchor=1", "concurrency-timeout=60s", "max-waiting=2", "enforce-percent=0"})
    void anExplicitDefaultIsNoWarning(String attribute) {
        assertThat(warnings(and(PLAIN, P + attribute))).isEmpty();
    }

    @Test
    void aPolicyWithDotsHasTheNameOfItsProperty() {
        assertThat(warnings("ratelimit.policies.\"a.b\".limit=1/1m", "ratelimit.policies.\"a.b\".anchor=5"))
                .containsExactly("WEIR-015 ratelimit.policies.\"a.b\".anchor has no effect unless"
                        + " ratelimit.policies.\"a.b\".limit has a value such as 10000/month. Set that as well, or remove"
                        + " ratelimit.policies.\"a.b\".anchor.");
    }

    /** A new property has to be in one of the lists, or in the check. */
    @Test
    void eachPropertyIsCheckedOrAlwaysHasAnEffect() {
        Set<String> checked = new TreeSet<>(Set.of(
                "ratelimit.policies.<p>.zone",
                "ratelimit.policies.<p>.anchor",
                "ratelimit.policies.<p>.concurrency-timeout",
                "ratelimit.policies.<p>.max-waiting",
                "ratelimit.policies.<p>.algorithm",
                "ratelimit.policies.<p>.enforce-percent",
                "ratelimit.policies.<p>.penalty.after",
                "ratelimit.console.role",
                "ratelimit.console.open",
                "ratelimit.console.grafana",
                "ratelimit.changes.role",
                "ratelimit.bypass.header",
                "ratelimit.forwarded-header"));
        Set<String> listed = Stream.of(checked, OF_OTHER_CHECKS, ALWAYS)
                .flatMap(Set::stream)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(listed).hasSize(checked.size() + OF_OTHER_CHECKS.size() + ALWAYS.size());
        assertThat(listed)
                .isEqualTo(ConfigKeys.all().stream().map(ConfigKey::name).collect(Collectors.toSet()));
    }
}
