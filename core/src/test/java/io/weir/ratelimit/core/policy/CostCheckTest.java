// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CostCheckTest {
    private static final MethodLimits FIND =
            new MethodLimits(MethodLimits.Name.of("Search.find"), List.of("api"), 0, Optional.empty());
    private static final MethodLimits ALL =
            new MethodLimits(MethodLimits.Name.of("Search.all"), List.of("api"), 7, Optional.empty());

    /** Returns the problems of methods under a policy with 6 permits per minute. */
    private static List<String> problems(Map<String, Long> costs, List<MethodLimits> methods, String... lines) {
        ConfigProperties config =
                Configs.of(Stream.concat(Stream.of("ratelimit.policies.api.limit=1000/1h, 6/1m"), Stream.of(lines))
                        .toArray(String[]::new));
        Problems problems = new Problems();
        ReadPolicies read = ReadPolicies.of(config, methods.toArray(MethodLimits[]::new));
        assertThat(read.found()).isEmpty();
        new CostCheck(config, methods, costs).check(read.policy("api"), problems);
        return problems.lines();
    }

    private static String problem(String place, long cost) {
        return "WEIR-140 " + place + " = " + cost
                + ": the capacity of policy api is 6, so it can never hold the cost, and the"
                + " call would always be rejected; use 6 or less, or raise the limit or the burst of policy api";
    }

    @Test
    void aCostThatThePolicyCanNeverHoldIsReportedWithItsPlace() {
        assertThat(problems(Map.of(), List.of(FIND, ALL))).containsExactly(problem("Search.all @RateLimit(cost)", 7));
        assertThat(problems(Map.of("Search.all", 6L, "Search.find", 9L), List.of(FIND, ALL)))
                .containsExactly(problem("ratelimit.costs.\"Search.find\"", 9));
        assertThat(problems(Map.of(), List.of(FIND), "ratelimit.policies.api.cost=8"))
                .containsExactly(problem("ratelimit.policies.api.cost", 8));
        assertThat(problems(Map.of(), List.of(), "ratelimit.policies.api.cost=8", "ratelimit.policies.api.paths=/x"))
                .containsExactly(problem("ratelimit.policies.api.cost", 8));
        assertThat(problems(
                        Map.of(), List.of(), "ratelimit.policies.api.costs./x=7", "ratelimit.policies.api.costs./y=6"))
                .containsExactly(problem("ratelimit.policies.api.costs./x", 7));
    }

    @ParameterizedTest
    @CsvSource({
        "/api/*,               /api/health, true",
        "'/api/*, /health',    /health,     true",
        "default,              /health,     true",
        "/health,              /health,     false",
        "'/health/a, /health', /health/*,   false",
    })
    void theCostOfThePolicyAppliesToPathsWithoutACost(String paths, String free, boolean applies) {
        assertThat(problems(
                        Map.of(),
                        List.of(),
                        "ratelimit.policies.api.cost=8",
                        "ratelimit.policies.api.paths=" + paths,
                        "ratelimit.policies.api.costs." + free + "=0"))
                .isEqualTo(applies ? List.of(problem("ratelimit.policies.api.cost", 8)) : List.of());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mode=shadow",
                "mode=off",
                "limit=0/1m",
                "limit=7/1m",
                "costs./x=1",
            })
    void aCostThatCanBeHeldOrDoesNotRejectIsNotReported(String attribute) {
        assertThat(problems(Map.of(), List.of(ALL), "ratelimit.policies.api." + attribute))
                .isEmpty();
    }

    @Test
    void theCapacityOfABucketAndOfATierCounts() {
        assertThat(problems(
                        Map.of(),
                        List.of(ALL),
                        "ratelimit.policies.api.limit=6/1m",
                        "ratelimit.policies.api.algorithm=token-bucket",
                        "ratelimit.policies.api.burst=7"))
                .isEmpty();
        assertThat(problems(
                        Map.of(),
                        List.of(ALL),
                        "ratelimit.policies.api.tier=header:X-Plan",
                        "ratelimit.policies.api.tiers.gold.limit=7/1m"))
                .isEmpty();
        assertThat(problems(
                        Map.of(),
                        List.of(ALL),
                        "ratelimit.policies.api.tier=header:X-Plan",
                        "ratelimit.policies.api.tiers.gold.limit=5/1m"))
                .containsExactly(problem("Search.all @RateLimit(cost)", 7));
    }

    @Test
    void aCostThatNothingUsesIsNotReported() {
        assertThat(problems(Map.of("Other.call", 9L), List.of(), "ratelimit.policies.api.cost=8"))
                .isEmpty();
    }
}
