// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.operations.changes.PolicyValues;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReloadTest {
    private static final String LIMIT = "ratelimit.policies.api.limit";
    private static final int KEYS = 1_000;

    /** The properties that an operator changes. */
    private final Map<String, String> file = new HashMap<>(Map.of(
            LIMIT, "10/1m", "ratelimit.policies.other.limit", "20/1m", "ratelimit.policies.other.paths", "/other"));

    private final Map<String, String> environment = new HashMap<>();
    private final List<PolicySnapshot> held = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();
    private RuntimeException failure;
    private Instant now = Instant.EPOCH;
    private final Readings readings = new Readings(new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    });
    private LogCapture log;

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    static class Search {
        @RateLimit("api")
        public void find(@RateLimitKey("text") String text) {}

        @RateLimit(limit = "3/1m")
        public void expensive() {}

        @RateLimit({"api", "Search.expensive"})
        public void together() {}
    }

    /** A class that is not a bean at deployment. */
    static class Late {
        @RateLimit(limit = "4/1m")
        public void found() {}
    }

    /** Runs at each read of a configuration source. */
    private volatile Runnable onRead = () -> {};

    private class Changing implements ConfigSource {
        private final String name;
        private final int ordinal;
        private final Map<String, String> properties;

        Changing(String name, int ordinal, Map<String, String> properties) {
            this.name = name;
            this.ordinal = ordinal;
            this.properties = properties;
        }

        @Override
        public Set<String> getPropertyNames() {
            onRead.run();
            if (failure != null) {
                throw failure;
            }
            return Set.copyOf(properties.keySet());
        }

        @Override
        public String getValue(String property) {
            onRead.run();
            return properties.get(property);
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public int getOrdinal() {
            return ordinal;
        }
    }

    private final Config config = new SmallRyeConfigBuilder()
            .addDefaultInterceptors()
            .withSources(new Changing("file", 100, file), new Changing("Env", 300, environment) {
                @Override
                public Set<String> getPropertyNames() {
                    super.getPropertyNames();
                    return Set.of();
                }
            })
            .build();

    private final class Deployed {
        private final PolicySnapshotLoader loader;
        private final PolicySnapshot first;
        private final Reload reload;

        private Deployed() {
            Problems problems = new Problems();
            this.loader = new PolicySnapshotLoader(
                    new AnnotationScanner(MethodNames.of(Set.of(Search.class)), problems).scan(Set.of(Search.class)),
                    new AnnotationScanner(MethodNames.of(Set.of(Search.class)), new Problems()),
                    new Resolvers(new KeyTerms(32, 64), Map.of()),
                    Set.of());
            CurrentConfig current = CurrentConfig.of(config);
            ConfigSnapshot read = new ConfigSnapshot(current.first());
            this.first = loader.load(read, problems);
            assertThat(problems.found()).isEmpty();
            held.add(first);
            this.reload = new Reload(loader, current, read, first, held::add, results::add, readings);
        }

        private void change(String name, String value) {
            file.put(name, value);
            reload.run();
        }
    }

    private PolicySnapshot now() {
        return held.get(held.size() - 1);
    }

    private String limits(String policy) {
        return Optional.ofNullable(now().policies().get(policy))
                .map(found -> found.limits().limits().toString())
                .orElse("none");
    }

    @Test
    void doesNothingUntilAPropertyChanges() {
        Deployed deployed = new Deployed();
        deployed.reload.run();
        deployed.change("another.property", "1");
        assertThat(held).hasSize(1);
        assertThat(results).isEmpty();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void aChangedLimitAppliesAndOtherPoliciesStayTheSameObjects() throws Exception {
        Deployed deployed = new Deployed();
        Policy other = now().policies().get("other");
        deployed.change(LIMIT, "11/1m");
        assertThat(limits("api")).isEqualTo("[11/1m sliding-window]");
        assertThat(now().policies().get("other")).isSameAs(other);
        assertThat(now().bindings()
                        .of(Search.class, Search.class.getMethod("find", String.class))
                        .binding()
                        .policies()
                        .get(0)
                        .policy())
                .isSameAs(now().policies().get("api"));
        assertThat(results).containsExactly(Result.APPLIED);
        assertThat(log.lines())
                .containsExactly("INFO WEIR-314 The configuration was reloaded:"
                        + " changed policies [api (limit from 10/1m to 11/1m)].");
        deployed.reload.run();
        assertThat(held).hasSize(2);
    }

    @Test
    void aHigherShareOfEnforcedKeysAppliesAndKeepsTheKeys() {
        String share = "ratelimit.policies.api.enforce-percent";
        file.put("ratelimit.policies.api.mode", "shadow");
        file.put(share, "10");
        Deployed deployed = new Deployed();
        Set<String> tenPercent = enforcedKeys();
        deployed.change(share, "50");
        assertThat(enforcedKeys())
                .containsAll(tenPercent)
                .hasSizeGreaterThan(2 * tenPercent.size())
                .hasSizeLessThan(KEYS);
        deployed.change(share, "0");
        assertThat(enforcedKeys()).isEmpty();
        assertThat(log.lines())
                .containsExactly(
                        "INFO WEIR-314 The configuration was reloaded: changed policies [api (enforce-percent from 10 to 50)].",
                        "INFO WEIR-314 The configuration was reloaded: changed policies [api (enforce-percent from 50 to 0)].");
    }

    private Set<String> enforcedKeys() {
        Policy policy = now().policies().get("api");
        return IntStream.range(0, KEYS)
                .mapToObj(i -> "p.user" + i)
                .filter(key -> !policy.isShadowFor(key))
                .collect(Collectors.toSet());
    }

    @Test
    @Tag("field")
    void theModeOffOfYamlIsApplied() {
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.policies.api.mode", "false");
        assertThat(now().policies().get("api").rollout().mode()).isEqualTo(Policy.Mode.OFF);
        assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-313"));
    }

    @Test
    void aShareThatLosesItsEffectIsReportedOnce() {
        String warning = "WARNING WEIR-015 ratelimit.policies.api.enforce-percent has no effect unless"
                + " ratelimit.policies.api.mode has a value such as shadow. Set that as well, or remove"
                + " ratelimit.policies.api.enforce-percent.";
        file.put("ratelimit.policies.api.mode", "shadow");
        file.put("ratelimit.policies.api.enforce-percent", "10");
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.policies.api.mode", "enforce");
        assertThat(log.lines()).last().isEqualTo(warning);
        deployed.change(LIMIT, "11/1m");
        deployed.change("ratelimit.policies.api.mode", "shadow");
        assertThat(log.lines()).filteredOn(line -> line.equals(warning)).hasSize(1);
        deployed.change("ratelimit.policies.api.mode", "enforce");
        assertThat(log.lines()).filteredOn(line -> line.equals(warning)).hasSize(2);
    }

    @Test
    void theMessageHasTheOldAndTheNewValues() {
        file.put("ratelimit.costs.\"Search.expensive\"", "2");
        Deployed deployed = new Deployed();
        file.put(LIMIT, "11/1m");
        file.put("ratelimit.policies.api.help", "https://example.com/" + "x".repeat(300));
        file.put("ratelimit.policies.other.mode", "shadow");
        file.put("ratelimit.policies.other.tier", "header:X-Plan");
        file.put("ratelimit.policies.other.tiers.gold.limit", "7/1m");
        file.put("ratelimit.costs.\"Search.expensive\"", "3");
        deployed.reload.run();
        assertThat(log.lines())
                .singleElement()
                .asString()
                .startsWith("INFO WEIR-314 The configuration was reloaded: changed policies"
                        + " [api (help from unset to https://example.com/xxx")
                .contains("xxx…; limit from 10/1m to 11/1m), other (mode from enforce to shadow;"
                        + " tier from unset to header:X-Plan; tiers.gold.limit from unset to 7/1m)]")
                .endsWith("; changed costs of [Search.expensive (from 2 to 3)].");
    }

    @Test
    void theEnvironmentExpressionsAndProfilesStillApply() {
        file.put(LIMIT, "${most:9}/1m");
        file.put("mp.config.profile", "live");
        Deployed deployed = new Deployed();
        assertThat(limits("api")).isEqualTo("[9/1m sliding-window]");
        deployed.change("most", "8");
        assertThat(limits("api")).isEqualTo("[8/1m sliding-window]");
        deployed.change("%live." + LIMIT, "6/1m");
        assertThat(limits("api")).isEqualTo("[6/1m sliding-window]");
        environment.put("%live." + LIMIT, "5/1m");
        deployed.reload.run();
        assertThat(limits("api")).isEqualTo("[5/1m sliding-window]");
        assertThat(results).hasSize(3).containsOnly(Result.APPLIED);
    }

    @Test
    void addsAndRemovesPoliciesWithTheirPathsAndCosts() {
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.fresh.limit", "1/1m");
        file.put("ratelimit.policies.fresh.paths", "/fresh");
        file.put("ratelimit.costs.\"Search.expensive\"", "2");
        file.keySet().removeIf(name -> name.contains("other"));
        deployed.reload.run();
        assertThat(now().policies()).containsOnlyKeys("api", "fresh", "Search.expensive");
        assertThat(now().costs()).containsExactly(Map.entry("Search.expensive", 2L));
        assertThat(log.lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .isEqualTo(
                                        "INFO WEIR-314 The configuration was reloaded: new policies [fresh];"
                                                + " removed policies [other]; changed costs of [Search.expensive (from unset to 2)]."),
                        line -> assertThat(line).startsWith("WARNING WEIR-325 Policies [other] "));
    }

    @Test
    void warnsOnceOfACostThatAChangedTierCannotHold() {
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.api.tier", "header:X-Plan");
        file.put("ratelimit.costs.\"Search.find\"", "7");
        deployed.change("ratelimit.policies.api.tiers.free.limit", "5/1m");
        assertThat(log.lines())
                .last()
                .asString()
                .startsWith("WARNING WEIR-009 Policy api/free[5/1m sliding-window] has a capacity of 5 permits, but a"
                        + " call costs up to 7.");
        deployed.change("ratelimit.policies.other.limit", "21/1m");
        assertThat(log.lines()).filteredOn(line -> line.contains("WEIR-009")).hasSize(1);
    }

    @Test
    void keepsAPolicyThatBecomesInvalidWhileOthersChange() {
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.other.limit", "21/1m");
        deployed.change(LIMIT, "lots");
        assertThat(limits("api")).isEqualTo("[10/1m sliding-window]");
        assertThat(limits("other")).isEqualTo("[21/1m sliding-window]");
        assertThat(results).containsExactly(Result.INVALID);
        assertThat(log.lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith(
                                        "WARNING WEIR-313 The changed configuration is invalid. The previous values stay"
                                                + " in force for the invalid parts:\n  WEIR-111 " + LIMIT
                                                + " = lots: "),
                        line -> assertThat(line)
                                .isEqualTo("INFO WEIR-314 The configuration was reloaded:"
                                        + " changed policies [other (limit from 20/1m to 21/1m)]."));
    }

    @Test
    void logsASetOfProblemsOnceUntilItChanges() {
        Deployed deployed = new Deployed();
        deployed.change(LIMIT, "lots");
        deployed.reload.run();
        deployed.change("ratelimit.policies.other.limit", "22/1m");
        assertThat(warnings()).hasSize(1);
        deployed.change("ratelimit.policies.other.limit", "plenty");
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("lots", "plenty");
        file.put("ratelimit.policies.other.limit", "22/1m");
        deployed.change(LIMIT, "10/1m");
        assertThat(log.lines()).endsWith("INFO WEIR-314 The configuration was reloaded: no change. It is valid again.");
        deployed.change(LIMIT, "lots");
        assertThat(warnings()).as("it was valid in between").hasSize(3);
        assertThat(results)
                .containsExactly(Result.INVALID, Result.INVALID, Result.INVALID, Result.APPLIED, Result.INVALID);
    }

    private List<String> warnings() {
        return log.lines().stream().filter(line -> line.startsWith("WARNING")).toList();
    }

    @Test
    void keepsTheResultAndTheTimeOfTheLastChange() {
        Deployed deployed = new Deployed();
        assertThat(readings.last()).isEqualTo(new Reading(Instant.EPOCH, Result.APPLIED, List.of()));
        now = now.plusSeconds(5);
        deployed.reload.run();
        assertThat(readings.last().at()).as("nothing is new").isEqualTo(Instant.EPOCH);
        deployed.change(LIMIT, "11/1m");
        assertThat(readings.last()).isEqualTo(new Reading(now, Result.APPLIED, List.of()));
        now = now.plusSeconds(5);
        deployed.change(LIMIT, "lots");
        Reading invalid = readings.last();
        assertThat(invalid.at()).isEqualTo(now);
        assertThat(invalid.result()).isEqualTo(Result.INVALID);
        assertThat(invalid.problems()).singleElement().asString().startsWith("WEIR-111 " + LIMIT + " = lots");
        now = now.plusSeconds(5);
        deployed.reload.run();
        assertThat(readings.last()).isEqualTo(invalid);
        failure = new IllegalStateException("redis://user:pass@host");
        deployed.reload.run();
        Reading failed = readings.last();
        assertThat(failed.at()).isEqualTo(now);
        assertThat(failed.result()).isEqualTo(Result.FAILED);
        assertThat(failed.problems())
                .singleElement()
                .asString()
                .startsWith("WEIR-317 configuration: a configuration source failed with ")
                .contains("java.lang.IllegalStateException")
                .doesNotContain("pass");
        now = now.plusSeconds(5);
        deployed.reload.run();
        assertThat(readings.last()).isEqualTo(failed);
        failure = null;
        deployed.reload.run();
        assertThat(readings.last()).isEqualTo(new Reading(now, Result.INVALID, invalid.problems()));
        deployed.change(LIMIT, "11/1m");
        assertThat(readings.last()).isEqualTo(new Reading(now, Result.APPLIED, List.of()));
    }

    private List<String> origins(String policy) {
        return now().origins().get(policy).stream()
                .map(origin -> origin.property() + " = " + origin.value() + " of " + origin.source())
                .toList();
    }

    @Test
    void originsFollowTheValuesExceptInvalidOnes() {
        Deployed deployed = new Deployed();
        assertThat(origins("api")).contains(LIMIT + " = 10/1m of file");
        environment.put(LIMIT, "12/1m");
        deployed.change("ratelimit.policies.api.cost", "1");
        assertThat(origins("api")).contains(LIMIT + " = 12/1m of Env", "ratelimit.policies.api.cost = 1 of file");
        file.remove("ratelimit.policies.api.cost");
        deployed.reload.run();
        assertThat(origins("api"))
                .as("the same value from another source")
                .contains("ratelimit.policies.api.cost = 1 of default");
        environment.put(LIMIT, "lots");
        deployed.change("ratelimit.policies.other.limit", "21/1m");
        assertThat(origins("api")).contains(LIMIT + " = 12/1m of Env");
        assertThat(origins("other")).contains("ratelimit.policies.other.limit = 21/1m of file");
    }

    @Test
    void theNameOfASourceContainsNoSecret() {
        assertThat(new Origin("p", "1", "Db[jdbc:x://me:secr/et@db/x?password=hidden] file:/etc/a\nb").source())
                .isEqualTo("Db[jdbc:x://***@db/x?*** file:/etc/a b");
        assertThat(new Origin("p", "1", "Db[jdbc:sqlserver://db:1433;user=me;password=hidden]").source())
                .isEqualTo("Db[jdbc:sqlserver://db:1433;***");
    }

    @Test
    void keepsARemovedPolicyThatAnnotationsUse() {
        Deployed deployed = new Deployed();
        file.remove(LIMIT);
        deployed.reload.run();
        assertThat(limits("api")).isEqualTo("[10/1m sliding-window]");
        assertThat(warnings()).singleElement().asString().contains("WEIR-110 Search.find: policy api has no limit");
        assertThat(held).hasSize(1);
    }

    @Test
    void keepsAPolicyWithAnUnknownOrInvalidAttribute() {
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.other.limits", "1/1m");
        file.put("ratelimit.policies.other.limit", "1/1m");
        file.put("ratelimit.policies.api.key", "arg:unknown");
        file.put("ratelimit.policies.\"Search.expensive\".phase", "early");
        file.put("ratelimit.policies.\"Search.expensive\".paths", "/x");
        file.put("ratelimit.policies.\"Search.expensive\".key", "ip");
        deployed.reload.run();
        assertThat(held).hasSize(1);
        assertThat(warnings()).singleElement().asString().contains("WEIR-115", "WEIR-209", "WEIR-214");
    }

    @Test
    void keepsPoliciesOfAMisspelledNameOrAnUnreadableList() {
        environment.put("ratelimit.policies.hidden.limit", "7/1m");
        file.put("ratelimit.path-policies", "hidden");
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.path-policies", "${nowhere}");
        assertThat(limits("hidden")).isEqualTo("[7/1m sliding-window]");
        file.put("ratelimit.path-policies", "hidden");
        file.remove("ratelimit.policies.other.limit");
        file.remove("ratelimit.policies.other.paths");
        deployed.change("ratelimit.polices.other.limit", "1/1m");
        assertThat(limits("other")).isEqualTo("[20/1m sliding-window]");
        assertThat(results).containsOnly(Result.INVALID);
    }

    @Test
    void keepsACostThatBecomesInvalid() {
        file.put("ratelimit.costs.\"Search.expensive\"", "2");
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.costs.\"Search.expensive\"", "free");
        assertThat(now().costs()).containsExactly(Map.entry("Search.expensive", 2L));
        assertThat(results).containsExactly(Result.INVALID);
    }

    @Test
    void keepsACostAndALimitIfThePolicyCanNeverHoldTheNewCost() {
        file.put("ratelimit.costs.\"Search.expensive\"", "2");
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.other.limit", "21/1m");
        deployed.change("ratelimit.costs.\"Search.expensive\"", "1000");
        assertThat(now().costs()).containsExactly(Map.entry("Search.expensive", 2L));
        assertThat(limits("other")).as("a valid change").isEqualTo("[21/1m sliding-window]");
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("WEIR-140 ratelimit.costs.\"Search.expensive\" = 1000: ");
        deployed.change("ratelimit.costs.\"Search.expensive\"", "3");
        assertThat(now().costs()).containsExactly(Map.entry("Search.expensive", 3L));
        assertThat(results).containsExactly(Result.INVALID, Result.APPLIED);
    }

    @ParameterizedTest
    @CsvSource({"ratelimit.policies.api.mode, enforcee", "ratelimit.policies.api.limit, 20/1 m"})
    void keepsACostIfTheLimitsThatHoldItAreInvalid(String property, String value) {
        file.put("ratelimit.costs.\"Search.find\"", "5");
        Deployed deployed = new Deployed();
        file.put("ratelimit.costs.\"Search.find\"", "15");
        file.put(LIMIT, "20/1m");
        deployed.change(property, value);
        assertThat(limits("api")).isEqualTo("[10/1m sliding-window]");
        assertThat(now().costs()).containsExactly(Map.entry("Search.find", 5L));
        assertThat(warnings()).anyMatch(line -> line.contains("WEIR-140"));
        file.put(LIMIT, "20/1m");
        deployed.change("ratelimit.policies.api.mode", "enforce");
        assertThat(limits("api")).isEqualTo("[20/1m sliding-window]");
        assertThat(now().costs()).containsExactly(Map.entry("Search.find", 15L));
    }

    @Test
    void keepsALimitIfTheChangedOneCannotHoldACostThatIsKept() {
        file.put("ratelimit.costs.\"Search.together\"", "2");
        Deployed deployed = new Deployed();
        file.put("ratelimit.costs.\"Search.together\"", "1");
        file.put(LIMIT, "1/1m");
        deployed.change("ratelimit.costs.\"Search.expensive\"", "1000");
        assertThat(now().costs()).containsExactly(Map.entry("Search.together", 2L));
        assertThat(limits("api")).isEqualTo("[10/1m sliding-window]");
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("WEIR-140 ratelimit.costs.\"Search.together\" = 2: the capacity of policy api is 1");
    }

    @Test
    void keepsTheCostOfAMisspelledName() {
        String cost = "ratelimit.costs.\"Search.expensive\"";
        file.put(cost, "2");
        Deployed deployed = new Deployed();
        file.remove(cost);
        deployed.change("ratelimit.costs.\"Search.expensiv\"", "2");
        assertThat(now().costs()).containsExactly(Map.entry("Search.expensive", 2L));
        assertThat(warnings()).singleElement().asString().contains("WEIR-113 ");
        file.remove("ratelimit.costs.\"Search.expensiv\"");
        deployed.reload.run();
        assertThat(now().costs()).as("removed on purpose").isEmpty();
    }

    @Test
    void theBypassFollowsValidChanges() {
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.bypass.addresses", "10.0.0.0/8");
        assertThat(now().bypass()).hasToString("0 tokens, addresses [10.0.0.0/8], roles []");
        deployed.change("ratelimit.bypass.addresses", "10.0.0.0/8, everybody");
        assertThat(now().bypass()).hasToString("0 tokens, addresses [10.0.0.0/8], roles []");
        deployed.change("ratelimit.bypass.tokens", "not a digest");
        assertThat(warnings()).hasSize(2).noneMatch(line -> line.contains("not a digest"));
        assertThat(results).containsExactly(Result.APPLIED, Result.INVALID, Result.INVALID);
        assertThat(held).hasSize(2);
    }

    @Test
    void aFailingSourceIsCountedEachTimeAndLoggedOnce() {
        Deployed deployed = new Deployed();
        failure = new IllegalStateException("the file system is unavailable");
        deployed.reload.run();
        deployed.reload.run();
        assertThat(results).containsExactly(Result.FAILED, Result.FAILED);
        assertThat(log.lines())
                .containsExactly(
                        "WARNING WEIR-317 The configuration cannot be reloaded. The current configuration stays in force. This is"
                                + " logged once until a reload succeeds.");
        failure = null;
        deployed.change(LIMIT, "12/1m");
        assertThat(limits("api")).isEqualTo("[12/1m sliding-window]");
        failure = new IllegalStateException("again");
        deployed.reload.run();
        assertThat(warnings()).hasSize(2);
    }

    @Test
    void aMethodOfALateClassKeepsItsLastValidPolicy() throws Exception {
        Deployed deployed = new Deployed();
        assertThat(late()).isEqualTo("[4/1m sliding-window]");
        deployed.change("ratelimit.policies.\"Late.found\".limit", "5/1m");
        assertThat(late()).isEqualTo("[5/1m sliding-window]");
        deployed.change("ratelimit.policies.\"Late.found\".limit", "some");
        assertThat(late()).isEqualTo("[5/1m sliding-window]");
        deployed.change(LIMIT, "13/1m");
        assertThat(late()).isEqualTo("[5/1m sliding-window]");
    }

    @Test
    void aFirstCallUnderAnInvalidPolicyFails() {
        Deployed deployed = new Deployed();
        file.put("ratelimit.policies.\"Late.found\".key", "ip +");
        deployed.change(LIMIT, "13/1m");
        assertThatThrownBy(this::late).isInstanceOf(IllegalStateException.class).hasMessageContaining("WEIR-204");
    }

    private String late() throws NoSuchMethodException {
        return now().bindings()
                .of(Late.class, Late.class.getMethod("found"))
                .binding()
                .policies()
                .get(0)
                .policy()
                .limits()
                .limits()
                .toString();
    }

    @Test
    void usesTheConfigurationOfTheServerIfItsValuesDiffer() {
        Config server = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new Changing("file", 100, file))
                .withInterceptors((context, name) -> name.equals(LIMIT)
                        ? context.proceed(name).from().withValue("1/1m").build()
                        : context.proceed(name))
                .build();
        CurrentConfig current = CurrentConfig.of(server);
        assertThat(current.first().get(LIMIT).value()).contains("1/1m");
        assertThat(current.get().get(LIMIT).value()).contains("1/1m");
        assertThat(current.difference()).contains("the values differ");
        assertThat(CurrentConfig.of(config).difference()).isEmpty();
    }

    private static PolicyValues change(long number, String policy, String attribute, String value) {
        return new PolicyValues(Map.of(
                policy,
                Map.of(
                        attribute,
                        new RuntimeChange(
                                number,
                                new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, policy, Optional.empty()),
                                Map.of(attribute, value),
                                Map.of(),
                                "alice",
                                "too many calls",
                                Instant.EPOCH,
                                Optional.empty(),
                                OptionalLong.empty()))));
    }

    @Test
    void aRuntimeChangePrecedesTheConfigurationUntilItEnds() {
        environment.put(LIMIT, "12/1m");
        Deployed deployed = new Deployed();
        Policy other = now().policies().get("other");
        deployed.reload.apply(change(17, "api", "limit", "50/1m"));
        assertThat(limits("api")).isEqualTo("[50/1m sliding-window]");
        assertThat(origins("api")).contains(LIMIT + " = 50/1m of runtime change 17 by alice");
        assertThat(now().policies().get("other")).isSameAs(other);
        Policy changed = now().policies().get("api");
        deployed.change("ratelimit.policies.other.limit", "21/1m");
        assertThat(limits("other")).as("the configuration below").isEqualTo("[21/1m sliding-window]");
        assertThat(now().policies().get("api"))
                .as("calls wait under this object")
                .isSameAs(changed);
        environment.put(LIMIT, "13/1m");
        deployed.reload.run();
        assertThat(limits("api")).isEqualTo("[50/1m sliding-window]");
        deployed.reload.apply(PolicyValues.NONE);
        assertThat(limits("api")).isEqualTo("[13/1m sliding-window]");
        assertThat(origins("api")).contains(LIMIT + " = 13/1m of Env");
    }

    @Test
    void aChangeOfAPolicyOfAnAnnotationApplies() {
        Deployed deployed = new Deployed();
        deployed.reload.apply(change(17, "Search.expensive", "limit", "50/1m"));
        assertThat(limits("Search.expensive")).isEqualTo("[50/1m sliding-window]");
        assertThat(origins("Search.expensive"))
                .contains("ratelimit.policies.\"Search.expensive\".limit = 50/1m of runtime change 17 by alice");
    }

    @Test
    void anInvalidChangeLeavesTheConfigurationInForceAndIsReported() {
        Deployed deployed = new Deployed();
        deployed.reload.apply(change(16, "api", "limit", "50/1m"));
        deployed.reload.apply(change(17, "api", "limit", "lots"));
        assertThat(limits("api")).as("neither change").isEqualTo("[10/1m sliding-window]");
        assertThat(readings.last().result()).isEqualTo(Result.INVALID);
        assertThat(warnings()).singleElement().asString().contains("WEIR-111 " + LIMIT + " = lots");
        deployed.reload.apply(change(18, "api", "limit", "60/1m"));
        assertThat(limits("api")).isEqualTo("[60/1m sliding-window]");
        assertThat(readings.last().result()).isEqualTo(Result.APPLIED);
    }

    @Test
    void theProblemsOfTheConfigurationStayWhileChangesComeAndGo() {
        Deployed deployed = new Deployed();
        deployed.change("ratelimit.policies.other.limit", "plenty");
        deployed.reload.apply(change(17, "api", "limit", "50/1m"));
        deployed.reload.apply(PolicyValues.NONE);
        assertThat(limits("other")).isEqualTo("[20/1m sliding-window]");
        assertThat(readings.last().result()).isEqualTo(Result.INVALID);
        assertThat(warnings()).hasSize(1);
    }

    @Test
    void aChangeOfAVanishedPolicyDoesNotCreateIt() {
        Deployed deployed = new Deployed();
        deployed.reload.apply(change(17, "other", "limit", "50/1m"));
        assertThat(limits("other")).isEqualTo("[50/1m sliding-window]");
        file.keySet().removeIf(name -> name.contains("other"));
        deployed.reload.run();
        assertThat(now().policies()).doesNotContainKey("other");
        assertThat(deployed.reload.names()).doesNotContain("other");
        file.put("ratelimit.policies.other.limit", "20/1m");
        deployed.reload.run();
        assertThat(limits("other")).isEqualTo("[50/1m sliding-window]");
    }

    @Test
    void aChangeIsCheckedWithoutBeingApplied() {
        Deployed deployed = new Deployed();
        assertThat(deployed.reload
                        .check(change(17, "api", "limit", "lots"), List.of())
                        .all())
                .singleElement()
                .asString()
                .startsWith("WEIR-111 " + LIMIT + " = lots: ");
        assertThat(limits("api")).isEqualTo("[10/1m sliding-window]");
        assertThat(held).hasSize(1);
    }

    @Test
    void aSlowSourceDelaysNoChange() throws Exception {
        Deployed deployed = new Deployed();
        file.put(LIMIT, "11/1m");
        file.put("ratelimit.policies.other.limit", "30/1m");
        Semaphore waiting = new Semaphore(0);
        Semaphore reads = new Semaphore(0);
        onRead = () -> {
            waiting.release();
            reads.acquireUninterruptibly();
        };
        Thread reload = new Thread(deployed.reload);
        reload.start();
        int changes = 0;
        while (reload.isAlive()) {
            // The reload waits for a source now, at each read once, or it has ended.
            if (waiting.tryAcquire(10, TimeUnit.MILLISECONDS)) {
                changes++;
                PolicyValues change = change(changes, "api", "limit", changes + "/1h");
                CompletableFuture.runAsync(() -> deployed.reload.apply(change)).get(20, TimeUnit.SECONDS);
                assertThat(limits("api")).isEqualTo("[" + changes + "/1h sliding-window]");
                reads.release();
            }
        }
        assertThat(changes).as("reads of the sources").isGreaterThan(20);
        assertThat(limits("api")).as("the last change").isEqualTo("[" + changes + "/1h sliding-window]");
        assertThat(limits("other")).as("the new configuration").isEqualTo("[30/1m sliding-window]");
        deployed.reload.apply(PolicyValues.NONE);
        assertThat(limits("api")).isEqualTo("[11/1m sliding-window]");
    }
}
