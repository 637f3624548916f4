// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.policy.ReadPolicies.inline;
import static io.weir.ratelimit.core.policy.ReadPolicies.naming;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoliciesTest {

    @Test
    void aPolicyNeedsALimitAndNothingElse() {
        ReadPolicies read = ReadPolicies.of("ratelimit.policies.api.limit=100/1m");
        Policy policy = read.policy("api");
        assertThat(policy.name()).isEqualTo("api");
        assertThat(policy.limits())
                .isEqualTo(new PolicyLimits(
                        "api", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1)))));
        assertThat(policy.key()).hasToString("principal | ip");
        assertThat(policy.cost()).isEqualTo(1);
        assertThat(policy.onFailure()).isEqualTo(FailureMode.OPEN);
        assertThat(read.found()).isEmpty();
    }

    @Test
    void everyAttributeCanBeConfigured() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=10/1s, 1000/1h",
                "ratelimit.policies.api.algorithm=token-bucket",
                "ratelimit.policies.api.burst=20",
                "ratelimit.policies.api.key=ip + header:x",
                "ratelimit.policies.api.cost=3",
                "ratelimit.policies.api.max-wait=1500ms",
                "ratelimit.policies.api.max-waiting=40",
                "ratelimit.policies.api.on-failure=closed");
        Policy policy = read.policy("api");
        assertThat(policy.limits().limits())
                .containsExactly(
                        Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(1), 20)
                                .withMaxWait(Duration.ofMillis(1500)),
                        Limit.of(Algorithm.TOKEN_BUCKET, 1000, Duration.ofHours(1), 20)
                                .withMaxWait(Duration.ofMillis(1500)));
        assertThat(policy.maxWaitMicros()).isEqualTo(1_500_000);
        assertThat(policy.maxWaiting()).isEqualTo(40);
        assertThat(policy.key()).hasToString("ip + header:x");
        assertThat(policy.cost()).isEqualTo(3);
        assertThat(policy.onFailure()).isEqualTo(FailureMode.CLOSED);
        assertThat(read.found()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void eachFailureModeCanBeChosen(FailureMode mode) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=5/1s", "ratelimit.policies.api.on-failure=" + mode.configName());
        assertThat(read.found()).isEmpty();
        assertThat(read.policy("api").onFailure()).isEqualTo(mode);
    }

    @Test
    void disclosureAndCountedOutcomesCanBeConfigured() {
        Policy plain = ReadPolicies.of("ratelimit.policies.api.limit=10/1s").policy("api");
        assertThat(plain.rollout().mode()).isEqualTo(Policy.Mode.ENFORCE);
        assertThat(plain.count()).isEqualTo(Policy.Count.ALWAYS);
        assertThat(plain.response().disclosure()).isEqualTo(Policy.Disclosure.FULL);
        assertThat(plain.response().help()).isEmpty();
        assertThat(plain.rollout().enforcePercent()).isZero();
        assertThat(plain.tiers().limits()).isEmpty();
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=10/1s",
                "ratelimit.policies.api.mode=shadow",
                "ratelimit.policies.api.enforce-percent=100",
                "ratelimit.policies.api.count=failure",
                "ratelimit.policies.api.disclosure=minimal",
                "ratelimit.policies.api.help=https://example.com/limits?of=api");
        Policy policy = read.policy("api");
        assertThat(read.found()).isEmpty();
        assertThat(policy.rollout().mode()).isEqualTo(Policy.Mode.SHADOW);
        assertThat(policy.rollout().enforcePercent()).isEqualTo(100);
        assertThat(policy.count()).isEqualTo(Policy.Count.FAILURE);
        assertThat(policy.response().disclosure()).isEqualTo(Policy.Disclosure.MINIMAL);
        assertThat(policy.response().help()).contains("https://example.com/limits?of=api");
    }

    @ParameterizedTest
    @CsvSource({"40, 20", "41, 20", "2, 1", "1, 0", "200, 100", "90000, 100", "0, 100"})
    void aTierHasTheLeaseOfItsPolicyOrAtMostHalfOfItsSmallestLimit(String permits, long lease) {
        Policy plan = leased("tiers.trial.limit=" + permits + "/1m, 100000/1h", "algorithm=fixed-window");
        assertThat(plan.limits().lease()).isEqualTo(100);
        assertThat(plan.tiers().limits().get("trial").lease()).isEqualTo(lease);
    }

    @Test
    void theLeaseOfATierThatIsABucketIsAtMostHalfOfItsBurst() {
        Policy plan = leased("tiers.trial.limit=1000/1m", "algorithm=token-bucket", "tiers.trial.burst=10");
        assertThat(plan.limits().lease()).isEqualTo(100);
        assertThat(plan.tiers().limits().get("trial").lease()).isEqualTo(5);
    }

    private static Policy leased(String... attributes) {
        ReadPolicies read = ReadPolicies.of(
                Stream.concat(Stream.of("limit=10000/1m", "lease=100", "tier=header:X-Plan"), Stream.of(attributes))
                        .map(attribute -> "ratelimit.policies.plan." + attribute)
                        .toArray(String[]::new));
        assertThat(read.lines()).isEmpty();
        return read.policy("plan");
    }

    @Test
    void tiersHaveLimitsOfTheirOwnWithTheAlgorithmOfThePolicy() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.plan.limit=60/1m",
                "ratelimit.policies.plan.algorithm=token-bucket",
                "ratelimit.policies.plan.max-wait=1s",
                "ratelimit.policies.plan.tier=header:X-Plan",
                "ratelimit.policies.plan.tiers.basic.limit=1000/1m, 10000/1h",
                "ratelimit.policies.plan.tiers.\"premium\".limit=10000/1m",
                "ratelimit.policies.plan.tiers.\"premium\".burst=50");
        assertThat(read.found()).isEmpty();
        Tiers tiers = read.policy("plan").tiers();
        assertThat(tiers.limits()).containsOnlyKeys("basic", "premium");
        assertThat(tiers.limits().get("basic"))
                .hasToString("plan/basic[1000/1m token-bucket max-wait 1s, 10000/1h token-bucket max-wait 1s]");
        assertThat(tiers.limits().get("basic").tier()).isEqualTo("basic");
        assertThat(tiers.limits().get("premium").limits().get(0).capacity()).isEqualTo(50);
        assertThat(read.policy("plan").limits().tier()).isEqualTo("none");
    }

    @Test
    void callsDoNotWaitByDefaultAndAtMostTwoWaitOnAThread() {
        Policy policy = ReadPolicies.of("ratelimit.policies.api.limit=10/1s").policy("api");
        assertThat(policy.maxWaitMicros()).isZero();
        assertThat(policy.maxWaiting()).isEqualTo(2);
        assertThat(ReadPolicies.of("ratelimit.policies.api.limit=10/1s", "ratelimit.policies.api.max-wait=1h")
                        .limits("api"))
                .isEqualTo("[10/1s sliding-window max-wait 1h]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "sliding-window", "sliding-log", "token-bucket", "leaky-bucket"})
    void eachAlgorithmHasAName(String algorithm) {
        ReadPolicies read =
                ReadPolicies.of("ratelimit.policies.api.limit=10/1s", "ratelimit.policies.api.algorithm=" + algorithm);
        assertThat(read.found()).isEmpty();
        assertThat(read.limits("api")).isEqualTo("[10/1s " + algorithm + "]");
    }

    @Test
    void aLeakyBucketHoldsOnePermitUnlessABurstIsConfigured() {
        String[] leaky = {"ratelimit.policies.api.limit=10/1s", "ratelimit.policies.api.algorithm=leaky-bucket"};
        assertThat(ReadPolicies.of(leaky).policy("api").limits().limits())
                .containsExactly(Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1), 1));
        assertThat(ReadPolicies.of(leaky[0], leaky[1], "ratelimit.policies.api.burst=3")
                        .policy("api")
                        .limits()
                        .limits())
                .containsExactly(Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1), 3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"api", "\"api\"", "login-ip", "a_b", "A$1", "\"Class.method\"", "\"a.b.c\"", "\"0\""})
    void namesCanHaveQuotesAndNeedThemForDots(String written) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies." + written + ".limit=5/10s", "ratelimit.policies." + written + ".key=global");
        String name = written.replace("\"", "");
        assertThat(read.policies()).containsOnlyKeys(name);
        assertThat(read.limits(name)).isEqualTo("[5/10s sliding-window]");
        assertThat(read.policy(name).key()).hasToString("global");
        assertThat(read.found()).isEmpty();
    }

    @Test
    void attributesOfOnePolicyCanBeWrittenWithAndWithoutQuotes() {
        ReadPolicies read =
                ReadPolicies.of("ratelimit.policies.\"api\".limit=5/10s", "ratelimit.policies.api.key=global");
        assertThat(read.policies()).containsOnlyKeys("api");
        assertThat(read.limits("api")).isEqualTo("[5/10s sliding-window]");
        assertThat(read.policy("api").key()).hasToString("global");
    }

    @Test
    void anAnnotationDefinesAnInlinePolicy() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of(),
                inline("Search.find", "app.Search.find()", "Search.find", "5/10s", "ip", Algorithm.TOKEN_BUCKET));
        assertThat(read.limits("Search.find")).isEqualTo("[5/10s token-bucket]");
        assertThat(read.policy("Search.find").key()).hasToString("ip");
        assertThat(read.found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"limit=7/1m", "algorithm=sliding-window", "burst=9", "key=global", "cost=2", "on-failure=closed"
            })
    void configurationOverridesAnAnnotationMemberByMember(String attribute) {
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.policies.\"Search.find\"." + attribute),
                inline("Search.find", "app.Search.find()", "Search.find", "5/10s", "ip", Algorithm.TOKEN_BUCKET));
        Policy policy = read.policy("Search.find");
        assertThat(read.found()).isEmpty();
        assertThat(List.of(
                        read.limits("Search.find"),
                        policy.key().toString(),
                        String.valueOf(policy.cost()),
                        policy.onFailure().configName()))
                .containsExactly(
                        attribute.startsWith("limit")
                                ? "[7/1m token-bucket]"
                                : attribute.startsWith("algorithm")
                                        ? "[5/10s sliding-window]"
                                        : attribute.startsWith("burst")
                                                ? "[5/10s token-bucket burst 9]"
                                                : "[5/10s token-bucket]",
                        attribute.startsWith("key") ? "global" : "ip",
                        attribute.startsWith("cost") ? "2" : "1",
                        attribute.startsWith("on-failure") ? "closed" : "open");
    }

    @Test
    void configurationDefinesTheMembersThatAnAnnotationOmits() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.policies.\"Search.find\".limit=7/1m"),
                inline("Search.find", "Search.find", "", "global"));
        assertThat(read.limits("Search.find")).isEqualTo("[7/1m sliding-window]");
        assertThat(read.policy("Search.find").key()).hasToString("global");
    }

    @Test
    void theEnvironmentOverridesPoliciesOfOtherSources() {
        Map<String, String> environment = Map.of(
                "RATELIMIT_POLICIES_API_LIMIT", "9/1m",
                "RATELIMIT_POLICIES_LOGIN_IP_KEY", "global",
                "RATELIMIT_POLICIES__SEARCH_FIND__LIMIT", "7/1m",
                "RATELIMIT_POLICIES_NAMED_LIMIT", "3/1s");
        var config = Configs.withEnvironment(
                environment, "ratelimit.policies.api.limit=1/1m", "ratelimit.policies.login-ip.limit=1/1m");
        ReadPolicies read = ReadPolicies.of(
                config, inline("Search.find", "Search.find", "5/10s", "ip"), naming("Search.other", "named"));
        assertThat(read.found()).isEmpty();
        assertThat(read.limits("api")).isEqualTo("[9/1m sliding-window]");
        assertThat(read.policy("login-ip").key()).hasToString("global");
        assertThat(read.limits("Search.find")).isEqualTo("[7/1m sliding-window]");
        assertThat(read.limits("named")).isEqualTo("[3/1s sliding-window]");
    }

    @Test
    void namesFromOnlyTheEnvironmentAreIgnored() {
        ReadPolicies read = ReadPolicies.of(Configs.withEnvironment(Map.of(
                "RATELIMIT_POLICIES_API_LIMIT", "9/1m",
                "ratelimit.policies.raw.limit", "9/1m",
                "RATELIMIT_POLICIES_API_LIMITT", "9/1m",
                "RATELIMIT_TYPO", "x",
                "RATELIMIT_COSTS__NO_SUCH_", "x")));
        assertThat(read.policies()).isEmpty();
        assertThat(read.found()).isEmpty();
    }

    @Test
    void oneDefinitionCanApplyToManyMethods() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of(), inline("Search.find", "api", "5/10s", "ip"), inline("Search.list", "api", "5/10s", "ip"));
        assertThat(read.found()).isEmpty();
        assertThat(read.limits("api")).isEqualTo("[5/10s sliding-window]");
    }

    @Test
    void configurationSetsTheCostOfAMethod() {
        var config = Configs.withEnvironment(
                Map.of("RATELIMIT_COSTS_SEARCH_TUNED", "7"),
                "ratelimit.costs.\"Search.find\"=10",
                "ratelimit.costs.Search.bare=11",
                "ratelimit.costs.\"Search.tuned\"=12",
                "ratelimit.costs.\"Search.free\"=");
        Problems problems = new Problems();
        assertThat(MethodCosts.read(config, MethodLimits.Name.of("Search.bare"), problems))
                .contains(11L);
        assertThat(MethodCosts.read(config, MethodLimits.Name.of("Search.tuned"), problems))
                .contains(7L);
        assertThat(MethodCosts.read(config, MethodLimits.Name.of("Search.find"), problems))
                .contains(10L);
        assertThat(MethodCosts.read(config, MethodLimits.Name.of("Search.free"), problems))
                .isEmpty();
        assertThat(MethodCosts.read(config, MethodLimits.Name.of("Search.other"), problems))
                .isEqualTo(Optional.empty());
        assertThat(problems.found()).isEmpty();
    }
}
