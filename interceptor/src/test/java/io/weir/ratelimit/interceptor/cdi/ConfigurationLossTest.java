// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.fixtures.LogCapture;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a reload does when properties are missing, and how often it asks for them. */
class ConfigurationLossTest {
    private static final Map<String, String> PROPERTIES = Map.of(
            "ratelimit.policies.login.limit", "3/1m",
            "ratelimit.policies.search.limit", "3/1m",
            "ratelimit.policies.search.paths", "/api/hello",
            "ratelimit.policies.search.tier", "header:X-Plan",
            "ratelimit.policies.search.tiers.gold.limit", "9/1m",
            "ratelimit.costs.\"Login.login\"", "2",
            "ratelimit.bypass.addresses", "10.0.0.0/8");

    static class Login {
        @RateLimit("login")
        public void login() {}
    }

    private final ChangingConfigSource store = new ChangingConfigSource("store", 400, PROPERTIES);
    private final ChangingConfigSource file = new ChangingConfigSource("file", 100, Map.of("another.property", "1"));
    private final List<PolicySnapshot> held = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();
    private final Readings readings = new Readings(Clock.systemUTC());
    private LogCapture log;
    private Reload reload;

    @BeforeEach
    void start() {
        log = new LogCapture();
        start(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(store, file)
                .build());
    }

    private void start(Config config) {
        Problems problems = new Problems();
        PolicySnapshotLoader loader = new PolicySnapshotLoader(
                new AnnotationScanner(MethodNames.of(Set.of(Login.class)), problems).scan(Set.of(Login.class)),
                new AnnotationScanner(MethodNames.of(Set.of(Login.class)), new Problems()),
                new Resolvers(new KeyTerms(32, 64), Map.of()),
                Set.of());
        CurrentConfig current = CurrentConfig.of(config);
        ConfigSnapshot read = new ConfigSnapshot(current.first());
        PolicySnapshot first = loader.load(read, problems);
        assertThat(problems.found()).isEmpty();
        held.add(first);
        reload = new Reload(loader, current, read, first, held::add, results::add, readings);
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private String now() {
        PolicySnapshot snapshot = held.get(held.size() - 1);
        return List.of("login", "search").stream()
                .map(name -> Optional.ofNullable(snapshot.policies().get(name))
                        .map(policy -> name + " " + policy.limits().limits().get(0)
                                + policy.tiers().limits().keySet()
                                + policy.pathRule()
                                        .map(rule -> " " + rule.text())
                                        .orElse(""))
                        .orElse("no " + name))
                .collect(Collectors.joining(", ", "", ", " + snapshot.costs() + ", " + snapshot.bypass()));
    }

    private static final String ALL = "login 3/1m sliding-window[], search 3/1m sliding-window[gold] paths /api/hello,"
            + " {Login.login=2}, 0 tokens, addresses [10.0.0.0/8], roles []";

    private void remove(String part) {
        store.properties.keySet().removeIf(name -> name.contains(part));
        reload.run();
    }

    private List<String> warnings() {
        return log.lines().stream().filter(line -> line.startsWith("WARNING")).toList();
    }

    @Test
    @Tag("field")
    void theLastPropertiesOfAnEmptySourceStayInForce() {
        assertThat(now()).isEqualTo(ALL);
        remove("");
        reload.run();
        assertThat(now()).isEqualTo(ALL);
        assertThat(log.lines())
                .containsExactly("WARNING WEIR-313 The changed configuration is invalid. The previous values stay in"
                        + " force for the invalid parts:\n  WEIR-324 configuration source store: the source had"
                        + " properties, and lists none now; they stay in force where no other source sets them, until"
                        + " it lists some again; restore its content, or restart the application without them");
        assertThat(results).containsExactly(Result.INVALID);
        assertThat(readings.last().problems()).hasSize(1);

        file.properties.put("ratelimit.policies.search.limit", "4/1m");
        reload.run();
        assertThat(now()).as("another source").isEqualTo(ALL.replace("search 3/1m", "search 4/1m"));
        file.properties.remove("ratelimit.policies.search.limit");
        reload.run();
        assertThat(now()).isEqualTo(ALL);

        store.properties.putAll(PROPERTIES);
        reload.run();
        assertThat(now()).isEqualTo(ALL);
        assertThat(log.lines()).last().asString().contains("WEIR-314").contains("It is valid again.");
        assertThat(warnings()).hasSize(1);
        assertThat(readings.last().result()).isEqualTo(Result.APPLIED);
    }

    @Test
    @Tag("field")
    void aSourceThatIsFilledAgainHasItsNewProperties() {
        remove("");
        store.properties.put("ratelimit.policies.login.limit", "5/1m");
        reload.run();
        assertThat(now()).isEqualTo("login 5/1m sliding-window[], no search, {}, 0 tokens, addresses [], roles []");
        assertThat(warnings()).hasSize(2).last().asString().contains("WEIR-325 Policies [search]");
        remove("");
        assertThat(now()).startsWith("login 5/1m");
        assertThat(warnings()).as("a second loss").hasSize(3);
    }

    @Test
    @Tag("field")
    void aRemovedPathPolicyIsReported() {
        remove("search");
        assertThat(now()).isEqualTo(ALL.replace("search 3/1m sliding-window[gold] paths /api/hello", "no search"));
        assertThat(log.lines())
                .containsExactly(
                        "INFO WEIR-314 The configuration was reloaded: removed policies [search].",
                        "WARNING WEIR-325 Policies [search] apply to no paths any more, because their properties were"
                                + " removed. Requests of these paths are not limited by them. Restore the properties if"
                                + " this is not intended.");
        assertThat(results).containsExactly(Result.APPLIED);
    }

    @Test
    @Tag("field")
    void removedPathsAreReported() {
        remove("search.paths");
        assertThat(now()).isEqualTo(ALL.replace(" paths /api/hello", ""));
        assertThat(warnings()).singleElement().asString().startsWith("WARNING WEIR-325 Policies [search] ");
    }

    @Test
    @Tag("field")
    void aRemovedLimitKeepsThePolicy() {
        remove("search.limit");
        remove("login.limit");
        remove("gold.limit");
        assertThat(now()).isEqualTo(ALL);
        assertThat(warnings()).hasSize(3).last().asString().contains("WEIR-110", "WEIR-119");
    }

    @Test
    @Tag("field")
    void aRemovedBypassAndARemovedCostAreLoggedWithTheirValues() {
        remove("bypass");
        remove("costs");
        assertThat(now()).endsWith(", {}, 0 tokens, addresses [], roles []");
        assertThat(log.lines())
                .containsExactly(
                        "INFO WEIR-314 The configuration was reloaded: changed bypass (from 0 tokens, addresses"
                                + " [10.0.0.0/8], roles [] to 0 tokens, addresses [], roles []).",
                        "INFO WEIR-314 The configuration was reloaded: changed costs of [Login.login (from 2 to unset)].");
    }

    @Test
    void anEmptySourceWithoutOwnPropertiesIsNoLoss() {
        file.properties.clear();
        reload.run();
        assertThat(log.lines()).isEmpty();
        assertThat(held).hasSize(1);
    }

    @Test
    @Tag("field")
    void aSourceIsAskedOncePerReadingForWhatItLists() {
        Map<String, String> policies = new HashMap<>(Map.of("ratelimit.policies.login.limit", "3/1m"));
        for (int i = 0; i < 20; i++) {
            policies.put("ratelimit.policies.p" + i + ".limit", "5/1m");
        }
        ChangingConfigSource remote =
                new ChangingConfigSource("remote", 400, Map.of("ratelimit.policies.p1.limit", "6/1m"));
        start(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new ChangingConfigSource("many", 100, policies), remote)
                .build());
        assertThat(remote.asked)
                .as("at the start")
                .hasSizeLessThanOrEqualTo(
                        2 * (policies.size() + 1) + ConfigKeys.ofApplication().size());
        remote.asked.clear();
        reload.run();
        assertThat(remote.asked)
                .as("the first reload asks for all names, once for each")
                .hasSizeGreaterThan(20 * 20)
                .doesNotHaveDuplicates();
        for (int i = 1; i <= 3; i++) {
            remote.asked.clear();
            reload.run();
            assertThat(remote.asked).as("reload %d", i).containsExactly("ratelimit.policies.p1.limit");
        }
        remote.asked.clear();
        remote.properties.put("ratelimit.policies.p2.limit", "${most}/1m");
        remote.properties.put("most", "7");
        reload.run();
        assertThat(remote.asked)
                .as("a changed configuration")
                .containsExactlyInAnyOrder("ratelimit.policies.p1.limit", "ratelimit.policies.p2.limit", "most");
        assertThat(held.get(held.size() - 1).policies().get("p2").limits().limits())
                .hasToString("[7/1m sliding-window]");
    }

    @Test
    @Tag("field")
    void aSourceWithoutNamesIsAskedOncePerReadingForEachName() {
        ChangingConfigSource vault =
                ChangingConfigSource.withoutNames("vault", 400, Map.of("ratelimit.policies.login.limit", "3/1m"));
        start(new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(vault)
                .build());
        for (int i = 1; i <= 3; i++) {
            vault.asked.clear();
            reload.run();
            assertThat(new HashSet<>(vault.asked)).as("reload %d", i).hasSameSizeAs(vault.asked);
            assertThat(vault.asked).contains("ratelimit.policies.login.limit");
        }
        vault.properties.put("ratelimit.policies.login.limit", "4/1m");
        reload.run();
        assertThat(now()).startsWith("login 4/1m");
    }
}
