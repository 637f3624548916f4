// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.Configs;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests that a policy applies to without an annotation, by configuration. */
class PathRuleTest {
    private static final String LIMIT = "ratelimit.policies.api.limit=100/1m";

    @Test
    @Tag("field")
    void aRuleAppliesToItsPathsAndMethods() {
        PathRule rule = rule("paths=/api/search, /api/admin/*", "methods=GET,POST");
        assertThat(rule.match("GET", RequestPath.of("/api/search"))).isPresent();
        assertThat(rule.match("POST", RequestPath.of("/api/admin/users"))).isPresent();
        assertThat(rule.match("HEAD", RequestPath.of("/api/search"))).isPresent();
        assertThat(rule.match("DELETE", RequestPath.of("/api/search"))).isEmpty();
        assertThat(rule.match("GET", RequestPath.of("/api/export"))).isEmpty();
        assertThat(rule.early()).isFalse();
        assertThat(rule.byDefault()).isFalse();
    }

    /** A runtime can call the same method for each spelling. */
    @ParameterizedTest
    @ValueSource(strings = {"post", "Post", "get", "head"})
    void aRuleAppliesToEachSpellingOfItsMethods(String method) {
        assertThat(rule("paths=/api/search", "methods=GET,POST").match(method, RequestPath.of("/api/search")))
                .isPresent();
        assertThat(rule("paths=default", "methods=GET,POST").isDefaultFor(method))
                .isTrue();
        assertThat(rule("paths=/api/search", "methods=PUT").match(method, RequestPath.of("/api/search")))
                .isEmpty();
    }

    @Test
    void aRuleCanBeForHeadAlone() {
        PathRule rule = rule("paths=/api/search", "methods=HEAD");
        assertThat(rule.match("HEAD", RequestPath.of("/api/search"))).isPresent();
        assertThat(rule.match("GET", RequestPath.of("/api/search"))).isEmpty();
    }

    @Test
    void theMostSpecificCostAppliesAndItsPathBelongsToTheRule() {
        PathRule rule = rule("paths=/api/*", "costs./api/search=10", "costs.\"/api/{any}\"=3", "costs./api/health=0");
        assertThat(rule.match("GET", RequestPath.of("/api/search")))
                .contains(new PathRule.Match(PathPattern.parse("/api/search"), Optional.of(10L)));
        assertThat(rule.match("GET", RequestPath.of("/api/export"))
                        .orElseThrow()
                        .cost())
                .contains(3L);
        assertThat(rule.match("GET", RequestPath.of("/api/health"))
                        .orElseThrow()
                        .cost())
                .contains(0L);
        assertThat(rule.match("GET", RequestPath.of("/api/a/b")).orElseThrow().cost())
                .isEmpty();
        assertThat(rule("costs./api/search=10").match("GET", RequestPath.of("/api/search")))
                .isPresent();
    }

    @Test
    void aDefaultRuleMatchesNothingByItself() {
        PathRule rule = rule("paths=default", "methods=POST");
        assertThat(rule.match("POST", RequestPath.of("/api/search"))).isEmpty();
        assertThat(rule.isDefaultFor("POST")).isTrue();
        assertThat(rule.isDefaultFor("GET")).isFalse();
    }

    @Test
    void aPolicyWithoutPathsHasNoRule() {
        assertThat(ReadPolicies.of(LIMIT).policy("api").pathRule()).isEmpty();
        assertThat(ReadPolicies.of(LIMIT).policy("api").isEarly()).isFalse();
    }

    @Test
    void anEarlyRuleHasAKeyThatIsKnownBeforeTheUser() {
        assertThat(ReadPolicies.of(LIMIT, at("paths=/*"), at("phase=early"), at("key=header:x + ip | global"))
                        .policy("api")
                        .isEarly())
                .isTrue();
        assertThat(ReadPolicies.of(LIMIT, at("paths=/*"), at("phase=early")).lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-121 ratelimit.policies.api: ")
                .contains("key principal | ip is not known in the early phase");
    }

    @ParameterizedTest
    @ValueSource(strings = {"phase=early", "methods=GET"})
    void attributesThatRequirePathsAreReportedWithoutPaths(String attribute) {
        assertThat(ReadPolicies.of(LIMIT, at(attribute), at("key=ip")).lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-121 ratelimit.policies.api: methods and phase require paths; set "
                        + "ratelimit.policies.api.paths");
    }

    @Test
    void aPathRuleWithAnArgumentAsItsKeyIsReported() {
        assertThat(ReadPolicies.of(LIMIT, at("paths=/*"), at("key=arg:user")).lines())
                .singleElement()
                .asString()
                .startsWith(
                        "WEIR-121 ratelimit.policies.api: key arg:user uses an argument, but a path has no arguments");
    }

    @Test
    void theDefaultCannotBeEarly() {
        assertThat(ReadPolicies.of(LIMIT, at("paths=default"), at("phase=early"), at("key=ip"))
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-121 ratelimit.policies.api: an early policy cannot apply by default");
    }

    @Test
    void twoCostsOfTheSamePathsAreReported() {
        assertThat(ReadPolicies.of(LIMIT, at("costs./orgs/{a}=1"), at("costs./orgs/{b}=2"))
                        .lines())
                .containsExactly(
                        "WEIR-122 ratelimit.policies.api.costs./orgs/{b} = 2: another cost applies to the same paths; "
                                + "keep one of the costs");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "paths=api              => is not a path",
                "paths=,                => must be default, or paths separated by commas",
                "paths=default, /api    => is not a path",
                "methods=get            => must be HTTP methods in upper case",
                "phase=late             => must be one of normal, early",
                "costs.api=1            => is not a path",
                "costs./api=-1          => must be a whole number from 0 to 281474976710654",
            })
    void aWrongValueIsReportedWithItsProperty(String attribute, String problem) {
        assertThat(ReadPolicies.of(LIMIT, at("key=ip"), at("costs./here=1"), at(attribute))
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-102 " + at(attribute).replaceAll("=.*", ""))
                .contains(problem)
                .as("the remedy does not remove the paths of a policy")
                .endsWith(
                        attribute.startsWith("phase")
                                ? "remove the property to use the default"
                                : "; correct the value");
    }

    @Test
    void thePoliciesWithPathsMustBeListedOnlyForTheEnvironment() {
        ReadPolicies read = ReadPolicies.of(Configs.withEnvironment(
                Map.of("RATELIMIT_POLICIES_EDGE_LIMIT", "5/1s", "RATELIMIT_POLICIES_EDGE_PATHS", "/api/*"),
                "ratelimit.path-policies=edge, other",
                "ratelimit.policies.other.limit=1/1s"));
        assertThat(read.found()).isEmpty();
        assertThat(read.policy("edge").pathRule().orElseThrow().paths()).containsExactly(PathPattern.parse("/api/*"));
    }

    private static PathRule rule(String... attributes) {
        String[] lines = new String[attributes.length + 1];
        lines[0] = LIMIT;
        for (int i = 0; i < attributes.length; i++) {
            lines[i + 1] = at(attributes[i]);
        }
        ReadPolicies read = ReadPolicies.of(lines);
        assertThat(read.found()).isEmpty();
        return read.policy("api").pathRule().orElseThrow();
    }

    private static String at(String attribute) {
        return "ratelimit.policies.api." + attribute;
    }
}
