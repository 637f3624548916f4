// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.CallerOperations.Caller;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OperationsTest {
    private static final String SECRET = "ratelimit.key-secret=0123456789abcdef";

    @ApplicationScoped
    public static class Desk {
        @Inject
        Operations operations;

        @Inject
        RateLimiter limiter;

        public Operations operations() {
            return operations;
        }

        public RateLimiter limiter() {
            return limiter;
        }
    }

    @ApplicationScoped
    public static class Shop {
        @RateLimit("plan")
        public void order() {}

        @RateLimit(limit = "7/1h", key = "ip", algorithm = Algorithm.TOKEN_BUCKET)
        public void look() {}
    }

    @Named("customer")
    @ApplicationScoped
    public static class Customer implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.principal().map(name -> Identity.of("customer of " + name));
        }
    }

    private static Container start(String... lines) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.metrics=none",
                "ratelimit.policies.plan.limit=2/1h, 100/24h",
                "ratelimit.policies.plan.key=principal | ip",
                "ratelimit.policies.plan.tier=header:X-Plan",
                "ratelimit.policies.plan.tiers.gold.limit=5/1h",
                "ratelimit.policies.plan.tiers.iron.limit=1/1m",
                "ratelimit.policies.login.limit=3/1h",
                "ratelimit.policies.login.key=ip + header:X-Key | customer | global",
                "ratelimit.policies.login.paths=/login",
                "ratelimit.policies.login.methods=POST"));
        all.addAll(Arrays.asList(lines));
        return Container.start(all.toArray(String[]::new), Desk.class, Shop.class, Customer.class);
    }

    private static Operations operations(Container container) {
        return container.bean(Desk.class).operations();
    }

    private static RateLimiter limiter(Container container) {
        return container.bean(Desk.class).limiter();
    }

    private static void orders(Container container, CallContext caller, int times) {
        for (int i = 0; i < times; i++) {
            container.inRequest(caller, () -> {
                try {
                    container.bean(Shop.class).order();
                } catch (RuntimeException e) {
                    assertThat(e).hasMessageContaining("plan");
                }
            });
        }
    }

    private static List<Long> remaining(List<Quota> quotas) {
        return quotas.stream().map(Quota::remaining).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {SECRET, "ratelimit.instances=1"})
    void topKeysShowCountsWithoutNames(String line) {
        try (Container container = start(line)) {
            orders(container, TestCall.byPrincipal("alice"), 5);
            orders(container, TestCall.byPrincipal("bob"), 2);
            orders(container, TestCall.fromAddress("203.0.113.7"), 3);
            TopKeys top = limiter(container).topKeys("plan");
            assertThat(top.active())
                    .extracting(TopKeys.Entry::minCount, TopKeys.Entry::maxCount)
                    .containsExactly(tuple(5L, 5L), tuple(3L, 3L), tuple(2L, 2L));
            assertThat(top.active()).extracting(TopKeys.Entry::utilization).containsOnly(1.0);
            assertThat(top.nearLimit())
                    .hasSize(3)
                    .allMatch(near -> near.duration().compareTo(Duration.ofMinutes(1)) < 0);
            assertThat(top.rejected()).hasSize(2);
            assertThat(top.rejected().get(0).key())
                    .isEqualTo(top.active().get(0).key())
                    .startsWith("p.~");
            assertThat(top.rejected().get(0).minCount()).isEqualTo(3);
            assertThat(top.rejected().get(1).key()).startsWith("i.~");
            assertThat(top.toString()).doesNotContain("alice", "bob", "203.0");
            assertThat(limiter(container).topKeys("login").active()).isEmpty();
            assertThatThrownBy(() -> limiter(container).topKeys("nothing"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> operations(container).storedTopKeys("nothing"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void countsNoKeysWhileLimitsAreOff() {
        try (Container container = start("ratelimit.enabled=false")) {
            orders(container, TestCall.byPrincipal("alice"), 5);
            limiter(container).acquire("plan", Identity.principal("alice"));
            assertThat(limiter(container).topKeys("plan").active()).isEmpty();
            assertThat(operations(container).backend().state()).isEqualTo(BackendHealth.State.OFF);
            assertThat(operations(container).policies()).hasSize(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SECRET, "ratelimit.instances=1"})
    void findsACallerByNameAndByShownKey(String line) {
        try (Container container = start(line)) {
            Operations operations = operations(container);
            orders(container, TestCall.byPrincipal("alice"), 2);
            Caller named = operations.caller("plan", 0, List.of("alice"));
            assertThat(named).isEqualTo(operations.caller("plan", Identity.principal("alice")));
            String shown = limiter(container).topKeys("plan").active().get(0).key();
            assertThat(named.key()).isEqualTo(shown);
            assertThat(operations.callerByMaskedKey("plan", " " + shown)).isEqualTo(named);
            assertThat(named.toString()).doesNotContain("alice");
            assertThat(remaining(operations.peek(named, ""))).containsExactly(0L, 98L);
            assertThat(remaining(operations.peek(named, "gold"))).containsExactly(3L);
            assertThat(remaining(operations.peek(named, "")))
                    .as("peek spends nothing")
                    .containsExactly(0L, 98L);
            assertThatThrownBy(() -> operations.peek(named, "silver"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the policy plan has no tier \"silver\", but [gold, iron]");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SECRET, "ratelimit.instances=1"})
    void findsACallerByItsStoredKey(String line) {
        try (Container container = start(line)) {
            Operations operations = operations(container);
            orders(container, TestCall.byPrincipal("alice"), 1);
            String storedKey = operations.storedTopKeys("plan").active().get(0).key();
            Caller stored = operations.callerByStoredKey("plan", storedKey);
            assertThat(stored).isEqualTo(operations.caller("plan", Identity.principal("alice")));
            assertThat(stored.key()).doesNotContain("alice");
            assertThat(operations.callerByStoredKey("elsewhere", storedKey).key())
                    .isEqualTo(stored.key());
            assertThatThrownBy(() -> operations.callerByStoredKey("plan", "a}b"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(operations.fleetStore()).as("in process").isEmpty();
        }
    }

    @ApplicationScoped
    public static class Chore implements Plugin.Task {
        static final AtomicInteger RUNS = new AtomicInteger();

        @Override
        public Duration interval() {
            return Duration.ofMillis(1);
        }

        @Override
        public void run() {
            RUNS.incrementAndGet();
        }
    }

    @Test
    void repeatsTheTasksOfOtherModulesWhileTheApplicationRuns() {
        try (Container container = Container.start(new String[] {"ratelimit.metrics=none"}, Desk.class, Chore.class)) {
            assertThat(operations(container).policies()).isEmpty();
            Await.until("the task has run twice", Duration.ofSeconds(20), () -> Chore.RUNS.get() >= 2);
        }
    }

    @Test
    void resetsACallerInAllTiers() {
        try (Container container = start()) {
            Operations operations = operations(container);
            orders(container, TestCall.byPrincipal("alice"), 1);
            orders(container, TestCall.byPrincipal("alice").withHeader("x-plan", "iron"), 1);
            orders(container, TestCall.byPrincipal("bob"), 1);
            Caller alice = operations.caller("plan", 0, List.of("alice"));
            assertThat(remaining(operations.peek(alice, ""))).containsExactly(1L, 99L);
            assertThat(remaining(operations.peek(alice, "iron"))).containsExactly(0L);
            operations.reset(alice);
            assertThat(remaining(operations.peek(alice, ""))).containsExactly(2L, 100L);
            assertThat(remaining(operations.peek(alice, "iron"))).containsExactly(1L);
            assertThat(remaining(operations.peek(operations.caller("plan", 0, List.of("bob")), "")))
                    .containsExactly(1L, 99L);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.7, 203.0.113.7",
        "::ffff:203.0.113.7, 203.0.113.7",
        "2001:DB8::1, 2001:db8::/64",
        "2001:db8::/64, 2001:db8::/64"
    })
    void normalizesAnAddressToItsSharedPrefix(String text, String shared) {
        try (Container container = start()) {
            assertThat(operations(container).caller("plan", 1, List.of(text)))
                    .isEqualTo(operations(container).caller("plan", Identity.address(shared)));
        }
    }

    @Test
    void aCompoundKeyHasOneValuePerTerm() {
        try (Container container = start()) {
            Operations operations = operations(container);
            assertThat(operations.caller("login", 0, List.of("10.0.0.1", " k1 ")))
                    .isEqualTo(operations.caller(
                            "login", Identity.address("10.0.0.1").and(Identity.header("X-Key", "k1"))));
            assertThat(operations.caller("login", 2, List.of("")))
                    .isEqualTo(operations.caller("login", Identity.GLOBAL));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "plan  > 0 > ''             > the user's name must not be blank",
                "plan  > 1 > example.org    > the value is not an address: enter one such as 203.0.113.7 or 2001:db8::1",
                "plan  > 1 > 2001:db8::/48  > addresses do not share a key by /48: that of this one is 2001:db8::/64",
                "plan  > 2 > x              > the key principal | ip has no alternative 2",
                "plan  > -1 > x             > the key principal | ip has no alternative -1",
                "login > 0 > 10.0.0.1       > the key [ip, header:x-key] has 2 values, and 1 are given",
                "login > 2 > alice          > the key term global has no value: leave it empty",
                "login > 1 > alice          > the key term customer is a bean of the application, so a value does not determine the key:"
                        + " enter the key as logs and spans show it",
                "other > 0 > alice          > there is no policy \"other\""
            })
    void reportsInvalidValuesToTheOperator(String policy, int alternative, String value, String message) {
        try (Container container = start()) {
            assertThatThrownBy(() -> operations(container).caller(policy, alternative, List.of(value)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(message);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "p.alice",
                "p.~short",
                "p.~abcdefghijklmnopqrstu}",
                "x.~abcdefghijklmnopqrstuv",
                "p.~abcdefghijklmnopqrstuv:plan",
                "p.~abcdefghijklmnopqrstuv+",
                "",
                "{p.~abcdefghijklmnopqrstuv"
            })
    void acceptsOnlyStoredKeys(String text) {
        for (String line : List.of(SECRET, "ratelimit.instances=1")) {
            try (Container container = start(line)) {
                assertThatThrownBy(() -> operations(container).callerByMaskedKey("plan", text))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("cannot be found by its hash");
            }
        }
    }

    @Test
    void acceptsAnyShownKeyWithASecretAndSharedKeysAlways() {
        String key = "i.~abcdefghijklmnopqrstuv+h.x-key.~abcdefghijklmnopqrst_-";
        try (Container container = start(SECRET)) {
            assertThat(operations(container).callerByMaskedKey("login", key))
                    .extracting(Caller::policy, Caller::key)
                    .containsExactly("login", key);
            assertThat(operations(container).callerByMaskedKey("login", "all"))
                    .isEqualTo(operations(container).caller("login", Identity.GLOBAL));
        }
        try (Container container = start()) {
            assertThatThrownBy(() -> operations(container).callerByMaskedKey("login", key))
                    .hasMessageContaining("ratelimit.key-secret");
            assertThat(operations(container).callerByMaskedKey("login", "anon").key())
                    .isEqualTo("anon");
        }
    }

    @Test
    void tellsForWhichKeysAPolicyIsEnforced() {
        try (Container container = start(
                "ratelimit.policies.plan.mode=shadow",
                "ratelimit.policies.plan.enforce-percent=50",
                "ratelimit.policies.login.mode=off")) {
            Operations operations = operations(container);
            List<Boolean> enforced = IntStream.range(0, 100)
                    .mapToObj(i -> operations.isEnforced("plan", "i." + i))
                    .toList();
            assertThat(enforced).contains(true, false);
            assertThat(operations.isEnforced("Shop.look", "i.1")).isTrue();
            assertThat(operations.isEnforced("login", "i.1")).isFalse();
            assertThat(operations.isEnforced("unknown", "i.1")).isFalse();
        }
    }

    @Test
    void showsTheShareOfEnforcedKeysWithItsOrigin() {
        try (Container container =
                start("ratelimit.policies.plan.mode=shadow", "ratelimit.policies.plan.enforce-percent=10")) {
            PolicyView plan = operations(container).policies().get(2);
            assertThat(plan.mode()).isEqualTo("shadow");
            assertThat(plan.enforcePercent()).isEqualTo(10);
            assertThat(plan.settings())
                    .contains(new PolicyView.Setting(
                            "ratelimit.policies.plan.enforce-percent",
                            "10",
                            "PropertiesConfigSource[source=application]"));
            assertThat(operations(container).policies().get(1).enforcePercent()).isZero();
        }
    }

    @Test
    void listsPoliciesWithTheOriginsOfTheirValues() {
        try (Container container = start("ratelimit.policies.\"Shop.look\".cost=2")) {
            List<PolicyView> policies = operations(container).policies();
            assertThat(policies).extracting(PolicyView::name).containsExactly("Shop.look", "login", "plan");
            PolicyView look = policies.get(0);
            String property = "ratelimit.policies.\"Shop.look\".";
            assertThat(look.settings())
                    .containsExactlyInAnyOrder(
                            new PolicyView.Setting(property + "limit", "7/1h", Shop.class.getName() + ".look()"),
                            new PolicyView.Setting(property + "key", "ip", Shop.class.getName() + ".look()"),
                            new PolicyView.Setting(
                                    property + "algorithm", "token-bucket", Shop.class.getName() + ".look()"),
                            new PolicyView.Setting(
                                    property + "cost", "2", "PropertiesConfigSource[source=application]"),
                            new PolicyView.Setting(property + "mode", "enforce", "default"),
                            new PolicyView.Setting(property + "on-failure", "open", "default"));
            assertThat(look.endpoints()).containsExactly("Shop.look");
            PolicyView login = policies.get(1);
            assertThat(login.keys())
                    .containsExactly(List.of("ip", "header:x-key"), List.of("customer"), List.of("global"));
            assertThat(login.paths()).isEqualTo("paths /login, POST");
            assertThat(login.endpoints()).isEmpty();
            PolicyView plan = policies.get(2);
            assertThat(plan.limits()).containsExactly("2/1h", "100/1d");
            assertThat(plan.tiers()).isEqualTo(Map.of("gold", List.of("5/1h"), "iron", List.of("1/1m")));
            assertThat(plan.settings())
                    .extracting(PolicyView.Setting::property)
                    .contains("ratelimit.policies.plan.tiers.gold.limit", "ratelimit.policies.plan.tier");
            assertThat(List.of(plan.mode(), plan.algorithm(), plan.key(), plan.onFailure()))
                    .containsExactly("enforce", "sliding-window", "principal | ip", "open");
            assertThat(plan.cost()).isEqualTo(1);
        }
    }

    @Test
    void returnsTheAccessAndTheLastReload() {
        try (Container container = start("ratelimit.console.enabled=true", "ratelimit.console.role=operator")) {
            assertThat(operations(container).access()).isEqualTo(new Access(true, Optional.of("operator"), false));
            assertThat(operations(container).lastReading().result()).isEqualTo(Result.APPLIED);
            assertThat(operations(container).backend().backend()).isEqualTo("local");
        }
        try (Container container = start()) {
            assertThat(operations(container).access()).isEqualTo(new Access(false, Optional.empty(), false));
        }
    }
}
