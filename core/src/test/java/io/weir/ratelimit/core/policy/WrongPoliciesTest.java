// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.policy.ReadPolicies.inline;
import static io.weir.ratelimit.core.policy.ReadPolicies.naming;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.core.key.KeyTerms;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WrongPoliciesTest {
    private static final String LIMIT_REMEDY =
            "; a limit is <permits>/<duration> or <permits>/<unit of the calendar>, for example 100/1m or 10000/month;"
                    + " commas separate several limits";
    private static final String KEY_REMEDY =
            "; a key consists of global, ip, principal, method, header:<name>, cookie:<name>, query:<name>, path:<name>, claim:<name>, arg:<name> and the names of KeyResolver beans, joined with + and |";

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "0       => \"0\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "-1/1m   => \"-1\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "10/0s   => the window must be from 1ms to 366d",
                "x/1m    => \"x\" is not a number of permits: use a whole number from 0 to 281474976710654",
                "10/1s,  => \"\" is not a limit: use <permits>/<duration>, for example 100/1m",
                "99999999999999999999/1s => "
                        + "\"99999999999999999999\" is not a number of permits: use a whole number from 0 to 281474976710654",
            })
    void aWrongLimitIsReportedWithItsPropertyItsValueAndARemedy(String value, String problem) {
        ReadPolicies read = ReadPolicies.of("ratelimit.policies.api.limit=" + value);
        assertThat(read.lines())
                .containsExactly("WEIR-111 ratelimit.policies.api.limit = " + value + ": " + problem + LIMIT_REMEDY);
        assertThat(read.policies()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "-1      => WEIR-129",
                "x       => WEIR-129",
                "1000001 => WEIR-129",
                "51      => WEIR-130",
            })
    void aWrongLeaseIsReportedWithItsPropertyAndItsValue(String value, String code) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=100/1s, 1000/1m", "ratelimit.policies.api.lease=" + value);
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith(code + " ratelimit.policies.api.lease = " + value);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "101", "ten", "10%", "0.5"})
    void aWrongShareOfEnforcedKeysIsReported(String value) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=5/1s",
                "ratelimit.policies.api.mode=shadow",
                "ratelimit.policies.api.enforce-percent=" + value);
        assertThat(read.lines())
                .containsExactly("WEIR-102 ratelimit.policies.api.enforce-percent = " + value
                        + ": must be a whole number from 0 to 100; correct the value, or remove the property to use the"
                        + " default");
    }

    @ParameterizedTest
    @ValueSource(strings = {"algorithm=sliding-log", "algorithm=leaky-bucket", "max-wait=1s"})
    void aLeaseOfAPolicyThatDoesNotSupportItIsReported(String attribute) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=100/1s",
                "ratelimit.policies.api.lease=10",
                "ratelimit.policies.api." + attribute);
        assertThat(read.lines()).singleElement().asString().startsWith("WEIR-128 ratelimit.policies.api.lease = 10");
    }

    @Test
    void aWrongLimitOfAnAnnotationIsReportedWithItsPlace() {
        ReadPolicies read = ReadPolicies.of(Configs.of(), inline("Search.find", "Search.find", "often", "somebody"));
        assertThat(read.lines())
                .containsExactly(
                        "WEIR-111 app.Search.find() @RateLimit(limit) = often: \"often\" is not a limit: use "
                                + "<permits>/<duration>, for example 100/1m" + LIMIT_REMEDY,
                        "WEIR-112 app.Search.find() @RateLimit(key) = somebody: at character 1: there is no key term "
                                + "\"somebody\"" + KEY_REMEDY);
    }

    @Test
    void aPolicyWithoutALimitIsReportedWithThePropertyToSet() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.policies.api.key=ip", "ratelimit.policies.empty.limit="),
                naming("Search.find", "named"),
                inline("Search.list", "Search.list", "", ""));
        assertThat(read.lines())
                .containsExactly(
                        "WEIR-110 app.Search.list(): policy Search.list has no limit; set "
                                + "ratelimit.policies.\"Search.list\".limit, for example to 100/1m, or set limit in the annotation",
                        "WEIR-110 ratelimit.policies.api: policy api has no limit; set ratelimit.policies.api.limit, "
                                + "for example to 100/1m",
                        "WEIR-110 ratelimit.policies.empty: policy empty has no limit; set "
                                + "ratelimit.policies.empty.limit, for example to 100/1m",
                        "WEIR-110 Search.find: policy named has no limit; set ratelimit.policies.named.limit, "
                                + "for example to 100/1m");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "cost=0          => must be a whole number from 1 to 281474976710654",
                "cost=-1         => must be a whole number from 1 to 281474976710654",
                "cost=x          => must be a whole number from 1 to 281474976710654",
                "burst=-1        => must be a whole number from 1 to 281474976710654",
                "burst=0         => must be a whole number from 1 to 281474976710654",
                "algorithm=fast  => must be one of fixed-window, sliding-window, sliding-log, token-bucket, leaky-bucket",
                "max-wait=soon   => \"soon\" is not a duration",
                "max-wait=61m    => must be from 0s to 1h",
                "max-waiting=0   => must be a whole number from 1 to 10000",
                "max-waiting=10001 => must be a whole number from 1 to 10000",
                "on-failure=shut => must be one of open, closed, local, sample",
                "mode=on         => must be one of enforce, shadow, off",
                "count=2xx       => must be one of always, success, failure",
                "disclosure=none => must be one of full, minimal",
                "help=see here   => must be a URI of printable ASCII",
                "help=\u00fc    => must be a URI of printable ASCII",
            })
    void aWrongValueIsReportedWithItsProperty(String attribute, String problem) {
        ReadPolicies read = ReadPolicies.of("ratelimit.policies.api.limit=5/1s", "ratelimit.policies.api." + attribute);
        String property = "ratelimit.policies.api." + attribute.replaceAll("=.*", "");
        String value = attribute.replaceAll(".*=", "");
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-102 " + property + " = " + value + ": ")
                .contains(problem);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10001/1s", "10/1s, 10001/1m", "10001/1s, 10/0s", "10001/0s"})
    void aLogWithTooManyPermitsIsReportedBeforeOtherProblems(String limits) {
        String problem = "WEIR-111 ratelimit.policies.api.limit = " + limits
                + ": sliding-log stores each allowed call and supports at most 10000 permits per window, not 10001: "
                + "choose sliding-window for more" + LIMIT_REMEDY;
        String[] properties = {"ratelimit.policies.api.limit=" + limits, "ratelimit.policies.api.algorithm=sliding-log"
        };
        assertThat(ReadPolicies.of(properties).lines()).containsExactly(problem);
        assertThat(ReadPolicies.of(properties).policies()).isEmpty();
    }

    @Test
    void aLogWithTooManyPermitsIsReportedBeforeItsBurst() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=10001/1s",
                "ratelimit.policies.api.algorithm=sliding-log",
                "ratelimit.policies.api.burst=5");
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-111 ratelimit.policies.api.limit = 10001/1s: sliding-log ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"10/1m, 20/1m", "10/60s, 20/1m", "10/1s, 20/1m, 30/60000ms"})
    void twoLimitsWithTheSameWindowAreReported(String limits) {
        ReadPolicies read = ReadPolicies.of("ratelimit.policies.api.limit=" + limits);
        assertThat(read.lines())
                .containsExactly("WEIR-109 ratelimit.policies.api.limit: two limits have the same window 1m; "
                        + "give each limit a different window");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "sliding-window", "sliding-log"})
    void aBurstOfAnAlgorithmWithoutBurstIsReported(String algorithm) {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=5/1s",
                "ratelimit.policies.api.algorithm=" + algorithm,
                "ratelimit.policies.api.burst=10");
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-116 ratelimit.policies.api.burst = 10")
                .contains("burst requires token-bucket or leaky-bucket");
    }

    @Test
    void aMaxWaitWithoutAnExactTimeUnitIsReported() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=281474976710654/1s",
                "ratelimit.policies.api.algorithm=leaky-bucket",
                "ratelimit.policies.api.max-wait=1m");
        assertThat(read.policies()).isEmpty();
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-117 ratelimit.policies.api.max-wait = 60000ms: 281474976710654 permits are too many"
                        + " for a window of 1000 ms and a max-wait of 60000 ms: ")
                .endsWith("; use a shorter max-wait");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "a/b", "a:b", "a{b}", "\u00e9", "a+b", "a~b", "a,b", "a%b"})
    void aNameWithInvalidCharactersIsReported(String name) {
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.policies." + name + ".limit=5/1s"), naming("Search.find", name + "2"));
        assertThat(read.policies()).isEmpty();
        assertThat(read.lines())
                .containsExactly(
                        "WEIR-105 ratelimit.policies." + name + " = " + name
                                + ": the policy name is invalid; use 1 to 128 of the characters A-Z a-z 0-9 . _ - $",
                        "WEIR-105 Search.find = " + name
                                + "2: the policy name is invalid; use 1 to 128 of the characters A-Z a-z 0-9 . _ - $");
    }

    @Test
    void aNameHasAtMost128Characters() {
        String longest = "x".repeat(128);
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies." + longest + ".limit=5/1s", "ratelimit.policies." + longest + "x.limit=5/1s");
        assertThat(read.policies()).containsOnlyKeys(longest);
        assertThat(read.lines()).singleElement().asString().startsWith("WEIR-105");
    }

    @ParameterizedTest
    @ValueSource(strings = {"api", "\"api\"", "\"api\".", ".limit", "\"\".limit", "\"api.limit", ""})
    void aNameThatIsNotAPolicyPropertyIsReported(String rest) {
        ReadPolicies read = ReadPolicies.of("ratelimit.policies." + rest + "=5/1s");
        assertThat(read.lines())
                .containsExactly("WEIR-103 ratelimit.policies." + rest
                        + ": the name is not a policy property; use ratelimit.policies.<name>.<attribute>, with quotes "
                        + "around a name that contains dots");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "tier=header:X                      => WEIR-119 ratelimit.policies.api.tier = header:X: no tier has a limit; set "
                        + "ratelimit.policies.api.tiers.<t>.limit, or remove this property",
                "tiers.basic.limit=1/1s             => WEIR-119 ratelimit.policies.api.tier: tiers have limits, but no property selects",
                "tier=ip tiers.basic.burst=2        => WEIR-110 ratelimit.policies.api.tiers.basic.limit: tier basic has no limit",
                "tier=ip tiers.basic.limit=x        => WEIR-111 ratelimit.policies.api.tiers.basic.limit = x: ",
                "tier=ip tiers.basic.limit=1/1s,2/1s => WEIR-109 ratelimit.policies.api.tiers.basic.limit: two limits",
                "tier=ip tiers.ba$ic.limit=1/1s     => WEIR-120 ratelimit.policies.api.tiers.ba$ic.limit = ba$ic: the tier name is invalid",
                "tier=plan tiers.basic.limit=1/1s   => WEIR-112 ratelimit.policies.api.tier = plan: ",
                "tier=ip+ip tiers.basic.limit=1/1s  => WEIR-112 ratelimit.policies.api.tier = ip+ip: a tier cannot be a compound",
                "tier=arg:plan tiers.basic.limit=1/1s => WEIR-112 ratelimit.policies.api.tier = arg:plan: the tier uses an argument",
                "tier=principal tiers.basic.limit=1/1s paths=/* phase=early key=ip => WEIR-121 ratelimit.policies.api.tier = principal: ",
                "tier=ip tiers.basic.limit=1/1s tiers.basic=1/1s => WEIR-115 ratelimit.policies.api.tiers.basic: ",
                "tier=ip tiers.basic.limit=1/1s tiers.basic.lmit=1/1s => WEIR-115 ratelimit.policies.api.tiers.basic.lmit: ",
            })
    void wrongTiersAreReported(String attributes, String problem) {
        String[] lines = ("ratelimit.policies.api.limit=5/1s " + attributes).split(" ", -1);
        for (int i = 1; i < lines.length; i++) {
            lines[i] = "ratelimit.policies.api." + lines[i];
        }
        assertThat(ReadPolicies.of(lines).lines())
                .anySatisfy(line -> assertThat(line).startsWith(problem));
    }

    @Test
    void aBeanThatSelectsTheTierOfAnEarlyPolicyIsReported() {
        Problems problems = new Problems();
        TierSelector plans = call -> Optional.of("free");
        String[] lines = {
            "ratelimit.policies.api.limit=5/1s",
            "ratelimit.policies.api.key=ip",
            "ratelimit.policies.api.paths=/api/*",
            "ratelimit.policies.api.phase=early",
            "ratelimit.policies.api.tier=plans",
            "ratelimit.policies.api.tiers.free.limit=1/1s"
        };
        Resolvers resolvers = new Resolvers(new KeyTerms(32, 64), Map.of("plans", plans));
        PolicyLoader.load(Configs.of(lines), List.of(), resolvers, problems);
        assertThat(problems.lines())
                .containsExactly(
                        "WEIR-121 ratelimit.policies.api.tier = plans: the tier is not known in the early phase;"
                                + " select the tier by ip, global and header:<name>, or use phase=normal");
    }

    private static final String ATTRIBUTES =
            "[algorithm, anchor, burst, concurrency, concurrency-timeout, cost, costs.<path>, count, disclosure, "
                    + "enforce-percent, help, key, lease, limit, max-wait, max-waiting, methods, mode, notify-at, on-failure, paths, penalty.after, penalty.factor, penalty.for, "
                    + "penalty.max, phase, tier, tiers.<t>.burst, tiers.<t>.concurrency, tiers.<t>.limit, zone]; put quotes around a policy name that contains dots";

    @Test
    void aMisspelledAttributeIsReported() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=5/1s",
                "ratelimit.policies.api.lmit=5/1s",
                "ratelimit.policies.Search.find.limit=5/1s");
        assertThat(read.lines())
                .filteredOn(line -> line.startsWith("WEIR-115"))
                .containsExactly(
                        "WEIR-115 ratelimit.policies.Search.find.limit: the policy attribute is unknown; if the policy is"
                                + " named Search.find, the quotes around its name are missing; write"
                                + " ratelimit.policies.\"Search.find\".limit, in YAML with the name in two kinds of quotes:"
                                + " '\"Search.find\"'; or use one of "
                                + ATTRIBUTES.substring(0, ATTRIBUTES.indexOf(';')),
                        "WEIR-115 ratelimit.policies.api.lmit: the policy attribute is unknown; did you mean limit?;"
                                + " correct the name, or use one of " + ATTRIBUTES);
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.enable, ratelimit.enabled",
        "ratelimit.trusted-proxy, ratelimit.trusted-proxies",
        "ratelimit.changes.enable, ratelimit.changes.enabled",
        "ratelimit.console.rol, ratelimit.console.role"
    })
    void theNearestPropertyIsNamed(String property, String near) {
        assertThat(ReadPolicies.of(property + "=x").lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-114 " + property + ": the property is unknown; did you mean " + near
                        + "?; correct the name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimit.policy.api.limit", "ratelimit."})
    void aPropertyThatDoesNotExistIsReported(String property) {
        assertThat(ReadPolicies.of(property + "=x").lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-114 " + property
                        + ": the property is unknown; use ratelimit.policies.<name>.<attribute>, "
                        + "ratelimit.costs.\"Class.method\" or one of [ratelimit.backend, ")
                .contains("ratelimit.local.max-keys");
    }

    @Test
    void otherPropertiesAreIgnored() {
        assertThat(ReadPolicies.of("ratelimiter.x=1", "my.ratelimit.policies.api.limit=1", "RATELIMIT_X=1")
                        .found())
                .isEmpty();
    }

    @Test
    void theCostOfAMethodThatIsNotLimitedIsReported() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of(
                        "ratelimit.costs.\"Search.find\"=2",
                        "ratelimit.costs.\"Search.fnd\"=2",
                        "ratelimit.policies.api.limit=5/1s"),
                naming("Search.find", "api"),
                naming("Search.list", "api"));
        assertThat(read.lines())
                .containsExactly("WEIR-113 ratelimit.costs.\"Search.fnd\": no limited method is named Search.fnd; use "
                        + "ratelimit.costs.\"Class.method\" with one of [Search.find, Search.list]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"acme.Search\".find", "\"acme.Search\".\"find\"", "\"acme\".Search.find"})
    void theCostOfAMethodWithOtherQuotesIsReported(String method) {
        MethodLimits.Name name = new MethodLimits.Name("Search.find", List.of("Search.find", "acme.Search.find"));
        ReadPolicies read = ReadPolicies.of(
                Configs.of("ratelimit.costs." + method + "=2", "ratelimit.policies.api.limit=5/1s"),
                new MethodLimits(name, List.of("api"), 0, Optional.empty()));
        assertThat(read.lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-113 ratelimit.costs." + method + ": no limited method is named ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "x", "1.5"})
    void aWrongCostOfAMethodIsReported(String cost) {
        Problems problems = new Problems();
        assertThat(MethodCosts.read(
                        Configs.of("ratelimit.costs.\"Search.find\"=" + cost),
                        MethodLimits.Name.of("Search.find"),
                        problems))
                .isEmpty();
        assertThat(problems.message()).contains("WEIR-102 ratelimit.costs.\"Search.find\" = " + cost + ": ");
    }

    @Test
    void twoDefinitionsOfOneNameAreReportedWithBothPlaces() {
        ReadPolicies overloads = ReadPolicies.of(
                Configs.of(),
                inline("Search.find", "app.Search.find(String)", "Search.find", "5/1s", "", Algorithm.SLIDING_WINDOW),
                inline("Search.find", "app.Search.find(int)", "Search.find", "5/1s", "", Algorithm.SLIDING_WINDOW));
        assertThat(overloads.lines())
                .containsExactly(
                        "WEIR-106 app.Search.find(int) = Search.find: the annotation defines the same policy as "
                                + "app.Search.find(String); give each definition a different name in @RateLimit(value = ...), or mark one method @RateLimitExempt");
        for (MethodLimits other : List.of(
                inline("Search.list", "api", "6/1s", "ip"),
                inline("Search.list", "api", "5/1s", "global"),
                inline("Search.list", "app.Search.list()", "api", "5/1s", "ip", Algorithm.TOKEN_BUCKET))) {
            ReadPolicies named = ReadPolicies.of(Configs.of(), inline("Search.find", "api", "5/1s", "ip"), other);
            assertThat(named.lines())
                    .containsExactly(
                            "WEIR-106 app.Search.list() = api: the annotation defines the same policy as app.Search.find(); "
                                    + "give each definition a different name in @RateLimit(value = ...), or mark one method @RateLimitExempt");
        }
    }

    @Test
    void anExpressionThatCannotBeResolvedIsReportedAndNotThrown() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=${no.such.property}/1s",
                "ratelimit.policies.two.limit=5/1s",
                "ratelimit.policies.two.key=${no.such.property}",
                "ratelimit.redis.address=redis://${no.such.property}");
        assertThat(read.lines())
                .contains(
                        "WEIR-101 ratelimit.policies.api.limit: the value cannot be read; check the ${...} expressions in the value; plain Java and the server for Envoy resolve none",
                        "WEIR-101 ratelimit.policies.two.key: the value cannot be read; check the ${...} expressions in the value; plain Java and the server for Envoy resolve none",
                        "WEIR-101 ratelimit.redis.address: the value cannot be read; check the ${...} expressions in the value; plain Java and the server for Envoy resolve none");
    }

    @Test
    void aLimitThatCannotBeReadIsNotReportedAsMissing() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=${no.such.property}/1s",
                "ratelimit.policies.two.limit=5/1s",
                "ratelimit.policies.two.tier=ip",
                "ratelimit.policies.two.tiers.basic.limit=${no.such.property}/1s");
        assertThat(read.lines())
                .containsExactlyInAnyOrder(
                        "WEIR-101 ratelimit.policies.api.limit: the value cannot be read; check the ${...} expressions in the value; plain Java and the server for Envoy resolve none",
                        "WEIR-101 ratelimit.policies.two.tiers.basic.limit: the value cannot be read; check the ${...} expressions in the value; plain Java and the server for Envoy resolve none");
    }

    @Test
    void anExpressionCanHaveAnEmptyDefault() {
        ReadPolicies read = ReadPolicies.of(
                "ratelimit.policies.api.limit=${no.such.property:5/1s}",
                "ratelimit.policies.api.key=${no.such.property:}",
                "ratelimit.key-secret=${no.such.property:}");
        assertThat(read.found()).isEmpty();
        assertThat(read.limits("api")).isEqualTo("[5/1s sliding-window]");
        assertThat(read.policy("api").key()).hasToString("principal | ip");
    }

    @Test
    void allProblemsAreInOneMessage() {
        ReadPolicies read = ReadPolicies.of(
                Configs.of(
                        "ratelimit.policies.a.limit=0",
                        "ratelimit.policies.b.limit=5/1s",
                        "ratelimit.policies.b.key=nobody",
                        "ratelimit.policies.b.cost=0",
                        "ratelimit.policies.c.limit=5/1s,6/1s",
                        "ratelimit.typo=1"),
                naming("Search.find", "d"));
        assertThat(read.problems().message()).startsWith("WEIR-100 The rate limit configuration is invalid:\n  WEIR-");
        assertThat(read.lines())
                .extracting(line -> line.substring(0, 8))
                .containsExactlyInAnyOrder("WEIR-111", "WEIR-112", "WEIR-102", "WEIR-109", "WEIR-114", "WEIR-110");
    }

    @Test
    void aLineBreakInAValueDoesNotForgeALine() {
        assertThat(ReadPolicies.of("ratelimit.policies.api.limit=x\n  WEIR-999 forged\r\n/1s")
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-111 ratelimit.policies.api.limit = x   WEIR-999 forged");
    }

    @Test
    void aClaimWithoutALoginThatHasClaimsIsReportedWithItsPlace() {
        Resolvers terms = new Resolvers(
                new KeyTerms(32, 64, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), Map.of(), false),
                Map.of());
        Problems problems = new Problems();
        PolicyLoader.load(
                Configs.of("ratelimit.policies.a.limit=1/1m", "ratelimit.policies.a.key=ip + claim:plan | ip"),
                List.of(ReadPolicies.inline("Search.find", "find", "1/1m", "claim:sub")),
                terms,
                problems);
        assertThat(problems.message().lines().skip(1).map(String::strip))
                .containsExactly(
                        "WEIR-212 ratelimit.policies.a.key = ip + claim:plan | ip: the expression uses a claim, but neither "
                                + "MicroProfile JWT nor OpenID Connect of Jakarta Security is available to the application; enable "
                                + "one of them on the server and make its API visible to the application, or use another term",
                        "WEIR-212 app.Search.find() @RateLimit(key) = claim:sub: the expression uses a claim, but neither "
                                + "MicroProfile JWT nor OpenID Connect of Jakarta Security is available to the application; enable "
                                + "one of them on the server and make its API visible to the application, or use another term");
    }

    @Test
    void anUnknownTierSelectorIsReportedWithTheAvailableBeans() {
        assertThat(ReadPolicies.of(
                                "ratelimit.policies.api.limit=1/1m",
                                "ratelimit.policies.api.tier=plans",
                                "ratelimit.policies.api.tiers.free.limit=2/1m")
                        .lines())
                .singleElement()
                .asString()
                .startsWith("WEIR-112 ratelimit.policies.api.tier = plans: ")
                .contains("; select the tier by a TierResolver bean, here one of [], or by global, ip, ");
    }
}
