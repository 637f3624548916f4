// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.engine.Fixtures;
import io.weir.ratelimit.core.policy.PathPattern;
import io.weir.ratelimit.core.policy.PathRule;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.RequestPath;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The policies of a request: those of its method and those that apply by path. */
class PathRulesTest {
    private static final Policy API = Fixtures.policy("api", "ip");

    @Test
    void limitsAMethodWithoutAnAnnotation() {
        Binding binding = join(Binding.NONE, "/api/admin/users", policy("admin", rule("/api/admin/*")));
        assertThat(text(binding)).isEqualTo("/api/admin/*: admin 1");
    }

    @Test
    void addsMatchingPoliciesToThoseOfTheAnnotation() {
        Binding annotated = new Binding("Search.find", List.of(new Binding.PolicyCost(API, 5)));
        Binding binding = join(annotated, "/api/search", policy("zone", rule("/api/*")), policy("edge", rule("/*")));
        assertThat(text(binding)).isEqualTo("Search.find: api 5, edge 1, zone 1");
    }

    @Test
    void withoutAMatchTheAnnotationApplies() {
        Binding annotated = new Binding("Search.find", List.of(new Binding.PolicyCost(API, 5)));
        assertThat(join(annotated, "/other", policy("admin", rule("/api/*")))).isSameAs(annotated);
        assertThat(join(Binding.NONE, "/other", policy("admin", rule("/api/*"))))
                .isSameAs(Binding.NONE);
    }

    @Test
    void theCostOfAPathPrecedesTheCostOfTheAnnotation() {
        Policy costly = policy("api", costs("/api/*", "/api/search", 7));
        Binding annotated = new Binding(
                "Search.find",
                List.of(new Binding.PolicyCost(costly, 5), new Binding.PolicyCost(Fixtures.policy("b", "ip"), 2)));
        assertThat(text(join(annotated, "/api/search", costly))).isEqualTo("Search.find: api 7, b 2");
        assertThat(join(annotated, "/api/export", costly)).isSameAs(annotated);
    }

    @Test
    void aFreePathDropsThePolicy() {
        Policy freeOnHealth = policy("api", costs("/api/*", "/api/health", 0));
        assertThat(text(join(Binding.NONE, "/api/health", freeOnHealth, policy("edge", rule("/*")))))
                .isEqualTo("/api/health: edge 1");
    }

    @Test
    void theDefaultAppliesIfNoOtherPolicyDoes() {
        Policy fallback = policy("fallback", new PathRule(List.of(), true, Set.of(), Map.of(), false));
        Policy freeOnHealth = policy("api", costs("/api/*", "/api/health", 0));
        Binding annotated = new Binding("Search.find", List.of(new Binding.PolicyCost(API, 5)));
        assertThat(text(join(Binding.NONE, "/other", fallback, freeOnHealth))).isEqualTo("default: fallback 1");
        assertThat(text(join(Binding.NONE, "/api/search", fallback, freeOnHealth)))
                .isEqualTo("/api/*: api 1");
        assertThat(join(Binding.NONE, "/api/health", fallback, freeOnHealth).policies())
                .isEmpty();
        assertThat(join(annotated, "/other", fallback, freeOnHealth)).isSameAs(annotated);
    }

    @Test
    void aDisabledPolicySuppressesTheDefault() {
        Policy fallback = policy("fallback", new PathRule(List.of(), true, Set.of(), Map.of(), false));
        Policy off = with(policy("api", rule("/api/*")), Policy.Mode.OFF);
        assertThat(join(Binding.NONE, "/api/search", fallback, off).policies()).isEmpty();
        assertThat(join(new Binding("Search.find", List.of()), "/other", fallback)
                        .policies())
                .isEmpty();
    }

    @Test
    void noRuleLimitsAnExemptMethod() {
        assertThat(join(Binding.EXEMPT, "/api/search", policy("edge", rule("/*"))))
                .isSameAs(Binding.EXEMPT);
    }

    @Test
    void doesNotReadThePathWithoutRules() {
        assertThat(new PathRules(List.of(API)).join(Binding.NONE, "GET", () -> {
                    throw new AssertionError("asked");
                }))
                .isSameAs(Binding.NONE);
    }

    private static Binding join(Binding annotated, String path, Policy... policies) {
        return new PathRules(List.of(policies)).join(annotated, "GET", () -> RequestPath.of(path));
    }

    private static String text(Binding binding) {
        return binding.endpoint() + ": "
                + binding.policies().stream()
                        .map(limited -> limited.policy().name() + " " + limited.cost())
                        .collect(Collectors.joining(", "));
    }

    private static PathRule rule(String path) {
        return new PathRule(List.of(PathPattern.parse(path)), false, Set.of(), Map.of(), false);
    }

    private static PathRule costs(String paths, String path, long cost) {
        return new PathRule(
                List.of(PathPattern.parse(paths)), false, Set.of(), Map.of(PathPattern.parse(path), cost), false);
    }

    private static Policy policy(String name, PathRule rule) {
        Policy plain = Fixtures.policy(name, "ip");
        return plain.toBuilder().pathRule(Optional.of(rule)).build();
    }

    private static Policy with(Policy policy, Policy.Mode mode) {
        return policy.toBuilder().mode(mode).build();
    }
}
