// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.CallerOperations.Caller;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.InstanceChanges;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.LocalChangeStore;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.RateLimitBackend;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RuntimeChangesTest {
    @ApplicationScoped
    public static class Desk {
        @Inject
        Operations operations;

        public Operations operations() {
            return operations;
        }
    }

    @ApplicationScoped
    public static class Shop {
        @RateLimit("plan")
        public void order() {}
    }

    private static Container start(String... lines) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.metrics=none",
                "ratelimit.changes.enabled=true",
                "ratelimit.changes.role=changer",
                "ratelimit.policies.plan.limit=2/1h",
                "ratelimit.policies.plan.key=principal"));
        all.addAll(Arrays.asList(lines));
        return Container.start(all.toArray(String[]::new), Desk.class, Shop.class);
    }

    private static Operations operations(Container container) {
        return container.bean(Desk.class).operations();
    }

    private static RuntimeChanges changes(Container container) {
        return operations(container).changes().orElseThrow();
    }

    private static RuntimeChange make(Container container, Kind kind, Optional<String> key, Map<String, String> values)
            throws Exception {
        RuntimeChanges changes = changes(container);
        return changes.make(request(kind, key, values), changes.view().tag());
    }

    private static ChangeRequest request(Kind kind, Optional<String> key, Map<String, String> values) {
        return new ChangeRequest(
                new Subject(kind, "plan", key), values, Optional.of(Duration.ofHours(2)), "a test", "alice");
    }

    private static void undo(Container container, RuntimeChange change) throws Exception {
        changes(container)
                .undo(
                        change.number(),
                        "a test",
                        "alice",
                        changes(container).view().tag());
    }

    /** Returns the number of allowed calls of a caller. */
    private static int allowed(Container container, String name, int calls) {
        return container.allowed(
                TestCall.byPrincipal(name),
                "plan",
                calls,
                () -> container.bean(Shop.class).order());
    }

    private static String setting(Container container, String attribute) {
        return operations(container).policies().stream()
                .filter(policy -> policy.name().equals("plan"))
                .flatMap(policy -> policy.settings().stream())
                .filter(setting -> setting.property().endsWith("." + attribute))
                .map(setting -> setting.value() + " of " + setting.source())
                .findFirst()
                .orElse("none");
    }

    @Test
    void aShareWithoutShadowModeIsAWarningBeforeItIsInForce() throws Exception {
        try (Container container = start("ratelimit.reload-interval=0s")) {
            ChangeRequest share = request(Kind.POLICY, Optional.empty(), Map.of("enforce-percent", "10"));
            String warning = "WEIR-015 ratelimit.policies.plan.enforce-percent has no effect unless"
                    + " ratelimit.policies.plan.mode has a value such as shadow.";
            assertThat(changes(container).warnings(share))
                    .singleElement()
                    .asString()
                    .startsWith(warning);
            make(container, Kind.POLICY, Optional.empty(), Map.of("enforce-percent", "20"));
            assertThat(changes(container).warnings(share))
                    .singleElement()
                    .asString()
                    .startsWith(warning);
            make(container, Kind.POLICY, Optional.empty(), Map.of("mode", "shadow"));
            assertThat(changes(container).warnings(share)).isEmpty();
        }
    }

    @Test
    void aCostThatAChangedLimitCannotHoldIsAWarningBeforeItIsInForce() throws Exception {
        try (LogCapture log = new LogCapture();
                Container container = start(
                        "ratelimit.policies.plan.mode=shadow",
                        "ratelimit.costs.\"Shop.order\"=2",
                        "ratelimit.policies.other.limit=1/1h",
                        "ratelimit.policies.other.paths=/other",
                        "ratelimit.policies.other.cost=2",
                        "ratelimit.policies.other.mode=shadow",
                        "ratelimit.policies.other.zone=Europe/Berlin")) {
            assertThat(log.lines())
                    .as("the warnings about another policy")
                    .anyMatch(line -> line.contains("WEIR-009 Policy other["))
                    .anyMatch(line -> line.contains("WEIR-015 ratelimit.policies.other.zone"));
            Map<String, String> values = Map.of("limit", "1/1h");
            String warning = "WEIR-009 Policy plan[1/1h sliding-window] has a capacity of 1 permits, but a call costs";
            assertThat(changes(container).warnings(request(Kind.POLICY, Optional.empty(), values)))
                    .singleElement()
                    .asString()
                    .startsWith(warning);
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-009 Policy plan["));
            make(container, Kind.POLICY, Optional.empty(), values);
            assertThat(log.lines())
                    .filteredOn(line -> line.startsWith("WARNING " + warning))
                    .hasSize(1);
            assertThat(changes(container)
                            .warnings(request(Kind.OVERRIDE, Optional.of("p.ann"), Map.of("limit", "5/1h"))))
                    .as("a limit of one key")
                    .isEmpty();
        }
    }

    @Test
    void aPenaltyThatAnObedientClientCanReachIsAWarningBeforeItIsInForce() throws Exception {
        try (Container container =
                start("ratelimit.policies.plan.penalty.after=20/1m", "ratelimit.policies.plan.penalty.for=15m")) {
            assertThat(changes(container).warnings(request(Kind.POLICY, Optional.empty(), Map.of("limit", "5/1h"))))
                    .isEmpty();
            assertThat(changes(container).warnings(request(Kind.POLICY, Optional.empty(), Map.of("limit", "100/1m"))))
                    .singleElement()
                    .asString()
                    .startsWith("WEIR-025 A client of policy plan ");
        }
    }

    @Test
    void anInvalidChangeHasNoWarningAboutTheValuesThatStayInForce() throws Exception {
        try (Container container = start("ratelimit.policies.plan.enforce-percent=10")) {
            ChangeRequest valid = request(Kind.POLICY, Optional.empty(), Map.of("limit", "3/1h"));
            assertThat(changes(container).warnings(valid)).hasSize(1);
            ChangeRequest invalid = request(Kind.POLICY, Optional.empty(), Map.of("limit", "lots"));
            assertThat(changes(container).problems(invalid)).hasSize(1);
            assertThat(changes(container).warnings(invalid)).isEmpty();
        }
    }

    @Test
    void aChangedLimitDecidesTheNextCall() throws Exception {
        try (Container container = start("ratelimit.reload-interval=0s")) {
            assertThat(allowed(container, "ann", 4)).isEqualTo(2);
            RuntimeChange change = make(container, Kind.POLICY, Optional.empty(), Map.of("limit", "3/1h"));
            assertThat(change.before()).isEqualTo(Map.of("limit", "2/1h"));
            assertThat(allowed(container, "ann", 4)).isEqualTo(1);
            assertThat(setting(container, "limit")).isEqualTo("3/1h of runtime change 1 by alice");
            undo(container, change);
            assertThat(setting(container, "limit")).isEqualTo("2/1h of PropertiesConfigSource[source=application]");
            assertThat(allowed(container, "ben", 4)).isEqualTo(2);
        }
    }

    @Test
    void aChangedModeAppliesToTheNextCall() throws Exception {
        try (Container container = start()) {
            make(container, Kind.POLICY, Optional.empty(), Map.of("mode", "shadow"));
            assertThat(allowed(container, "ann", 4)).isEqualTo(4);
            RuntimeChange off = make(container, Kind.POLICY, Optional.empty(), Map.of("mode", "off"));
            assertThat(allowed(container, "ben", 4)).isEqualTo(4);
            make(container, Kind.POLICY, Optional.empty(), Map.of("mode", "enforce"));
            assertThat(allowed(container, "ben", 4))
                    .as("calls were not charged while it was off")
                    .isEqualTo(2);
            assertThat(operations(container).policies())
                    .extracting(PolicyView::mode)
                    .containsExactly("enforce");
            assertThat(off.number()).isEqualTo(2);
        }
    }

    @Test
    void anOverrideIsForOneKey() throws Exception {
        try (Container container = start()) {
            Operations operations = operations(container);
            String key = storedKey(container, "ann");
            RuntimeChange change = make(container, Kind.OVERRIDE, Optional.of(key), Map.of("limit", "5/1h"));
            assertThat(allowed(container, "ann", 9)).isEqualTo(5);
            assertThat(allowed(container, "ben", 9)).isEqualTo(2);
            Caller caller = operations.callerByStoredKey("plan", key);
            assertThat(operations.peek(caller, "")).extracting(Quota::remaining).containsExactly(0L);
            operations.reset(caller);
            assertThat(allowed(container, "ann", 9)).isEqualTo(5);
            undo(container, change);
            assertThat(operations.peek(caller, "")).extracting(Quota::remaining).containsExactly(0L);
        }
    }

    @Test
    void aBlockEndsByItsUndo() throws Exception {
        try (Container container = start()) {
            String key = storedKey(container, "ann");
            RuntimeChange block = make(container, Kind.BLOCK, Optional.of(key), Map.of());
            assertThat(allowed(container, "ann", 3)).isZero();
            assertThat(allowed(container, "ben", 3)).isEqualTo(2);
            assertThat(operations(container).blocks().list())
                    .filteredOn(known -> known.rest().compareTo(Duration.ZERO) > 0)
                    .extracting(KnownBlocks.Block::storedKey, KnownBlocks.Block::cause)
                    .containsExactly(tuple(key, KnownBlocks.Cause.OPERATOR));
            undo(container, block);
            assertThat(operations(container).blocks().list())
                    .noneMatch(known -> known.cause() == KnownBlocks.Cause.OPERATOR);
            assertThat(allowed(container, "ann", 3)).isEqualTo(2);
        }
    }

    /** Returns the problems of limits of one key, with which the change is also rejected. */
    private static List<String> problems(Container container, Map<String, String> values) {
        ChangeRequest request = new ChangeRequest(
                new Subject(Kind.OVERRIDE, "plan", Optional.of("u.ann")), values, Optional.empty(), "a test", "alice");
        List<ConfigurationProblem> problems = changes(container).problems(request);
        if (!problems.isEmpty()) {
            assertThatThrownBy(() -> changes(container)
                            .make(request, changes(container).view().tag()))
                    .isInstanceOfSatisfying(
                            InvalidChangeException.class,
                            thrown -> assertThat(thrown.problems()).isEqualTo(problems));
        }
        return problems.stream().map(ConfigurationProblem::toString).toList();
    }

    @Test
    void anOverrideThatTheBackendCannotEvaluateIsRejectedAsADeploymentWouldBe() {
        String[] config = {
            "ratelimit.metrics=none",
            "ratelimit.changes.enabled=true",
            "ratelimit.changes.role=changer",
            "ratelimit.policies.plan.limit=2/1h",
            "ratelimit.policies.plan.algorithm=fixed-window"
        };
        try (Container container = Container.start(config, Desk.class, Shop.class, Beans.WindowBackend.class)) {
            assertThat(problems(container, Map.of("concurrency", "3")))
                    .containsExactly(
                            "WEIR-134 ratelimit.policies.plan.concurrency = 3: backend windows has no concurrency"
                                    + " limits; remove the property, or select a backend that has them: local or redisson");
            assertThat(problems(container, Map.of("limit", "5/day")))
                    .singleElement()
                    .asString()
                    .startsWith("WEIR-610 policy plan = 5/day")
                    .contains("the backend windows does not support this limit");
            assertThat(problems(container, Map.of("limit", "5/1h"))).isEmpty();
        }
    }

    @Test
    void anOverrideThatCanNeverHoldACostIsRejected() throws Exception {
        try (Container container = start("ratelimit.policies.plan.limit=20/1h", "ratelimit.costs.\"Shop.order\"=5")) {
            assertThat(problems(container, Map.of("limit", "3/1h")))
                    .containsExactly(
                            "WEIR-140 ratelimit.costs.\"Shop.order\" = 5: the capacity of policy plan is 3, so it"
                                    + " can never hold the cost, and the call would always be rejected; use 3 or less, or raise"
                                    + " the limit or the burst of policy plan");
            assertThat(problems(container, Map.of("limit", "0/1h")))
                    .as("a limit of 0 blocks on purpose")
                    .isEmpty();
            make(container, Kind.POLICY, Optional.empty(), Map.of("mode", "shadow"));
            assertThat(problems(container, Map.of("limit", "3/1h")))
                    .as("shadow mode ends before the override")
                    .singleElement()
                    .asString()
                    .startsWith("WEIR-455 ratelimit.costs.\"Shop.order\" = 5: this is invalid from ")
                    .contains("when runtime changes [1] end: WEIR-140 the capacity of policy plan is 3");
        }
    }

    @Test
    void anOverrideOfAPolicyOfARestClientHasTheRulesOfTheClient() {
        try (Container container = start("ratelimit.clients.prices.policy=plan")) {
            assertThat(problems(container, Map.of("concurrency", "3")))
                    .singleElement()
                    .asString()
                    .startsWith("WEIR-235 ratelimit.policies.plan.concurrency = 3: policy plan of client prices has a"
                            + " concurrency limit");
        }
    }

    @Test
    void changesThatAnInstanceCannotApplyAreIgnoredReportedAndShown() throws Exception {
        SharedStore.store = new LocalChangeStore(Clock.systemUTC());
        try (Container first = startShared()) {
            make(first, Kind.OVERRIDE, Optional.of("u.ann"), Map.of("concurrency", "3"));
            make(first, Kind.POLICY, Optional.empty(), Map.of("concurrency", "4"));
        }
        try (LogCapture log = new LogCapture();
                Container second = startShared("ratelimit.clients.prices.policy=plan")) {
            assertThat(changes(second).view().notInForce())
                    .hasSize(2)
                    .allSatisfy((number, problems) -> assertThat(problems)
                            .extracting(ConfigurationProblem::id)
                            .containsExactly("WEIR-235"));
            assertThat(setting(second, "concurrency")).isEqualTo("none");
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-452"))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING WEIR-452 Runtime changes are not in force on this instance: [1, 2].")
                    .contains("WEIR-235 ratelimit.policies.plan.concurrency = 3", "concurrency = 4");
        }
    }

    /** Returns the stored key of a caller who makes one call, which is then given back. */
    private static String storedKey(Container container, String name) {
        Operations operations = operations(container);
        assertThat(allowed(container, name, 1)).isEqualTo(1);
        operations.reset(operations.caller("plan", Identity.principal(name)));
        return operations.storedTopKeys("plan").active().get(0).key();
    }

    @Test
    void changesAreOffByDefault() {
        try (Container container = Container.start(
                Container.config("ratelimit.metrics=none", "ratelimit.policies.plan.limit=2/1h"),
                Desk.class,
                Shop.class)) {
            assertThat(operations(container).changes()).isEmpty();
            assertThat(operations(container).changesRole()).isEmpty();
        }
    }

    @Test
    void theRoleOfChangesIsKnownAndRequired() {
        try (Container container = start()) {
            assertThat(operations(container).changesRole()).contains("changer");
            assertThat(changes(container).view().shared()).isFalse();
        }
        assertThatThrownBy(() -> start("ratelimit.changes.role="))
                .hasStackTraceContaining("WEIR-139 ratelimit.changes.role: runtime changes have no role");
    }

    @Test
    void changesAreInForceBeforeTheFirstCallAndInTheStartSummary() throws Exception {
        SharedStore.store = new LocalChangeStore(Clock.systemUTC());
        try (Container first = startShared()) {
            make(first, Kind.POLICY, Optional.empty(), Map.of("limit", "1/1h", "mode", "shadow"));
        }
        try (LogCapture log = new LogCapture();
                Container second = startShared()) {
            assertThat(changes(second).view().shared()).isTrue();
            assertThat(setting(second, "limit")).isEqualTo("1/1h of runtime change 1 by alice");
            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line)
                            .contains("WEIR-001")
                            .contains("policy plan: 1/1h")
                            .contains("mode shadow")
                            .contains("; limit, mode by runtime change 1 by alice"));
        }
    }

    @Test
    void theFirstReadWaitsForTheConnection() {
        ChangeStore local = new LocalChangeStore(Clock.systemUTC());
        SharedStore.store = (ChangeStore) Proxy.newProxyInstance(
                ChangeStore.class.getClassLoader(),
                new Class<?>[] {ChangeStore.class},
                (proxy, method, arguments) -> SharedStore.connecting.get() > 0
                        ? CompletableFuture.failedFuture(
                                new BackendException(BackendException.Reason.NOT_READY, "not connected", null))
                        : method.invoke(local, arguments));
        SharedStore.connecting.set(4);
        try (LogCapture log = new LogCapture();
                Container container = startShared()) {
            assertThat(changes(container).view().read()).isPresent();
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-452"));
        } finally {
            SharedStore.connecting.set(0);
        }
    }

    /** As the clock of the test kit, which is set for each test. */
    public static class ClockOfTests implements EngineEnvironment {
        private static volatile long ahead;

        @Override
        public Sleeper clock() {
            return new Sleeper() {
                @Override
                public long nanos() {
                    return REAL.nanos() + ahead;
                }

                @Override
                public CompletableFuture<Void> timer(long micros) {
                    return REAL.timer(micros);
                }
            };
        }
    }

    @Test
    void changesInProcessEndByTheClockOfTheEngine() throws Exception {
        try (LogCapture log = new LogCapture();
                Container container = Container.start(
                        new String[] {
                            "ratelimit.metrics=none",
                            "ratelimit.changes.enabled=true",
                            "ratelimit.changes.role=changer",
                            "ratelimit.policies.plan.limit=2/1h",
                            "ratelimit.policies.plan.key=principal"
                        },
                        Desk.class,
                        Shop.class,
                        ClockOfTests.class)) {
            make(container, Kind.POLICY, Optional.empty(), Map.of("limit", "3/1h"));
            ClockOfTests.ahead = Duration.ofHours(3).toNanos();
            InstanceChanges changes = (InstanceChanges) changes(container);
            changes.run();
            assertThat(changes.view().active()).isEmpty();
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-457"));
        } finally {
            ClockOfTests.ahead = 0;
        }
    }

    /** A backend in process whose store of changes outlives the application. */
    @ApplicationScoped
    public static class SharedStore implements EngineEnvironment {
        private static ChangeStore store = new LocalChangeStore(Clock.systemUTC());

        /** The calls of {@code status} until the backend is connected. */
        private static final AtomicInteger connecting = new AtomicInteger();

        @Override
        public RateLimitBackend backend(RateLimitBackend selected, Duration deadline) {
            return (RateLimitBackend) Proxy.newProxyInstance(
                    RateLimitBackend.class.getClassLoader(),
                    new Class<?>[] {RateLimitBackend.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "capability" ->
                            arguments[0] == ChangeStore.class
                                    ? Optional.of(store)
                                    : selected.capability((Class<?>) arguments[0]);
                        case "status" ->
                            connecting.getAndUpdate(left -> Math.max(0, left - 1)) > 0
                                    ? new RateLimitBackend.Status(false, false, Duration.ZERO, 0)
                                    : RateLimitBackend.Status.READY;
                        default -> method.invoke(selected, arguments);
                    });
        }
    }

    private static Container startShared(String... lines) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.metrics=none",
                "ratelimit.changes.enabled=true",
                "ratelimit.changes.role=changer",
                "ratelimit.policies.plan.limit=2/1h"));
        all.addAll(Arrays.asList(lines));
        return Container.start(all.toArray(String[]::new), Desk.class, Shop.class, SharedStore.class);
    }
}
