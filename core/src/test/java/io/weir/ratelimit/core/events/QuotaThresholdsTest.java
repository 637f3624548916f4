// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.engine.Fixtures;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import io.weir.ratelimit.spi.SettlesCharges;
import io.weir.ratelimit.tck.ManualTime;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events of used shares, with several instances on one backend whose clock the test advances. */
class QuotaThresholdsTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final long HOUR_MICROS = HOUR.toMillis() * 1_000;
    private static final Identity ANN = Identity.principal("ann.lee");

    private final ManualTime time = new ManualTime();
    private final RateLimitBackend backend = new LocalBackend(10_000, time);
    private final List<QuotaThresholdReached> events = new ArrayList<>();
    private final RateLimitEngine engine = instance(0);

    /** By how much the wall clock of the instances has stepped. */
    private long stepMicros;

    private RateLimitEngine instance(long clockDifferenceMicros) {
        return instance(backend, Runnable::run, clockDifferenceMicros, events::add);
    }

    @SafeVarargs
    private RateLimitEngine instance(
            RateLimitBackend shared,
            Executor executor,
            long clockDifferenceMicros,
            Consumer<QuotaThresholdReached>... observers) {
        return instance(shared, () -> executor, clockDifferenceMicros, List.of(observers));
    }

    private RateLimitEngine instance(
            RateLimitBackend shared,
            Supplier<Executor> executor,
            long clockDifferenceMicros,
            List<Consumer<QuotaThresholdReached>> observers) {
        IdentityEncoder encoder = new IdentityEncoder(Optional.empty());
        return RateLimitEngine.on(Fixtures.withFallback(shared, Fixtures.health(shared)))
                .encoder(encoder)
                .thresholds(new QuotaThresholds(
                        shared,
                        encoder,
                        new KeyMasker(Optional.empty()),
                        executor,
                        () -> time.micros() + clockDifferenceMicros + stepMicros,
                        observers))
                .build();
    }

    private static Policy policy(Policy.Mode mode, List<Integer> notifyAt, Limit... limits) {
        return Policy.builder(
                        new PolicyLimits("api", List.of(limits)),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .mode(mode)
                .notifyAt(notifyAt)
                .build();
    }

    private static Policy policy(Algorithm algorithm, Integer... notifyAt) {
        return policy(Policy.Mode.ENFORCE, List.of(notifyAt), tenAnHour(algorithm));
    }

    private static Limit tenAnHour(Algorithm algorithm) {
        return algorithm == Algorithm.LEAKY_BUCKET ? Limit.of(algorithm, 10, HOUR, 10) : Limit.of(algorithm, 10, HOUR);
    }

    private static Decision call(RateLimitEngine instance, Policy policy, long cost) {
        return instance.decide(Fixtures.binding(cost, policy), TestCall.byPrincipal("ann.lee"), null);
    }

    private List<Integer> percents() {
        return events.stream().map(QuotaThresholdReached::percent).toList();
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void theDecisionThatReachesAShareCausesOneEvent(Algorithm algorithm) {
        Policy policy = policy(algorithm, 80, 100);
        for (int i = 1; i <= 7; i++) {
            call(engine, policy, 1);
        }
        assertThat(events).isEmpty();
        call(engine, policy, 1);
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.endpoint()).isEqualTo("Search.find");
            assertThat(event.policy()).isEqualTo("api");
            assertThat(event.percent()).isEqualTo(80);
            assertThat(event.key()).startsWith("p.~").doesNotContain("ann.lee");
            assertThat(event.identity()).isEqualTo(ANN);
            assertThat(event.quota().name()).isEqualTo("api");
            assertThat(event.quota().remaining()).isEqualTo(2);
            assertThat(event.quota().resetAfter()).isPositive();
            assertThat(event.toString()).doesNotContain("ann.lee");
        });
        for (int i = 0; i < 10; i++) {
            call(engine, policy, 1);
        }
        assertThat(percents()).containsExactly(80, 100);
    }

    @Test
    void oneCallCanReachSeveralShares() {
        call(engine, policy(Algorithm.SLIDING_WINDOW, 50, 80, 100), 9);
        assertThat(percents()).containsExactly(50, 80);
    }

    @Test
    void eachWindowOfAFixedWindowHasItsEvents() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        call(engine, policy, 1);
        for (int window = 1; window <= 3; window++) {
            // Late in the window, and early in the next one.
            time.advanceMicros(window % 2 == 1 ? HOUR_MICROS - 2 : 0);
            call(engine, policy, window == 1 ? 8 : 9);
            assertThat(events).hasSize(window);
            time.advanceMicros(window % 2 == 1 ? 2 : HOUR_MICROS);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_WINDOW", "SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void theOtherAlgorithmsRepeatAShareAfterOneWindow(Algorithm algorithm) {
        Policy policy = policy(algorithm, 80);
        RateLimitEngine other = instance(0);
        call(engine, policy, 9);
        long step = HOUR_MICROS / 20;
        for (int i = 1; i < 20; i++) {
            time.advanceMicros(step);
            call(i % 2 == 0 ? engine : other, policy, 1);
        }
        assertThat(events).as("while the share rises and falls within a window").hasSize(1);
        time.advanceMicros(step);
        while (call(other, policy, 1).allowed()) {
            continue;
        }
        assertThat(events).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aStepOfTheWallClockStopsNoEvents(Algorithm algorithm) {
        Policy policy = policy(algorithm, 80);
        int expected = 0;
        for (long hours : new long[] {0, -100, 0, 100, 0}) {
            stepMicros = hours * HOUR_MICROS;
            for (int window = 0; window < 3; window++) {
                time.advanceMicros(2 * HOUR_MICROS);
                call(engine, policy, 9);
                assertThat(events).as("%d h, window %d", hours, window).hasSize(++expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void oneOfSeveralInstancesReports(Algorithm algorithm) {
        Policy policy = policy(algorithm, 50, 80, 100);
        List<RateLimitEngine> instances = List.of(engine, instance(0), instance(0));
        for (int i = 0; i < 15; i++) {
            call(instances.get(i % 3), policy, 1);
        }
        assertThat(percents()).containsExactly(50, 80, 100);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aBlockIsNoUsedShare(Algorithm algorithm) {
        Policy policy = policy(algorithm, 80, 100);
        BlocksKeys blocks = (BlocksKeys) backend;
        String stored = new IdentityEncoder(Optional.empty()).encode(ANN);
        Decision.Allowed reserved = (Decision.Allowed) call(engine, policy, 3);
        blocks.block(policy.limits(), stored, Duration.ofMinutes(1))
                .toCompletableFuture()
                .join();
        assertThat(((Decision.Rejected) call(engine, policy, 1)).blocked()).isTrue();
        engine.settlements().settle(reserved.receipt(), 4);
        assertThat(events).isEmpty();

        blocks.unblock(policy.limits(), stored).toCompletableFuture().join();
        call(engine, policy, 4);
        assertThat(percents()).containsExactly(80);
    }

    /** Without the mark of the first instance, each of them would report. */
    @ParameterizedTest
    @ValueSource(longs = {-14, 14})
    void clocksMayDifferByLessThanAQuarterOfAWindow(long minutes) {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        RateLimitEngine other = instance(Duration.ofMinutes(minutes).toMillis() * 1_000);
        for (int window = 1; window <= 20; window++) {
            call(engine, policy, 9);
            call(other, policy, 1);
            assertThat(events).hasSize(window);
            time.advanceMicros(HOUR_MICROS + 17 * 60_000_000L);
        }
    }

    @Test
    void aRefundDoesNotRepeatAShareInItsPeriod() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        RateLimitEngine other = instance(0);
        call(engine, policy, 7);
        for (int i = 0; i < 5; i++) {
            Decision.Allowed allowed = (Decision.Allowed) call(i % 2 == 0 ? engine : other, policy, 1);
            backend.refund(allowed.receipt()).toCompletableFuture().join();
        }
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void eachLimitOfAPolicyHasItsShares() {
        Policy policy = policy(
                Policy.Mode.ENFORCE,
                List.of(80),
                Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1)),
                Limit.of(Algorithm.FIXED_WINDOW, 10, HOUR));
        call(engine, policy, 4);
        time.advanceMicros(60_000_000);
        call(engine, policy, 4);
        assertThat(events).extracting(event -> event.quota().name()).containsExactly("api-1m", "api-1m", "api-1h");
    }

    private static Limit calendarLimit(long permits, CalendarPeriod.Unit unit) {
        return Limit.of(permits, new CalendarPeriod(unit, ZoneId.of("Europe/Berlin"), 1));
    }

    private static Policy calendarPolicy(CalendarPeriod.Unit unit) {
        return policy(Policy.Mode.ENFORCE, List.of(80), calendarLimit(10, unit));
    }

    private void setTime(String instant) {
        time.advanceMicros(ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, Instant.parse(instant)) - time.micros());
    }

    @ParameterizedTest
    @ValueSource(longs = {-20, 20})
    void eachPeriodOfACalendarLimitHasItsEvent(long clockDifferenceDays) {
        Policy policy = calendarPolicy(CalendarPeriod.Unit.MONTH);
        RateLimitEngine other = instance(Duration.ofDays(clockDifferenceDays).toMillis() * 1_000);
        List<String> instants = List.of(
                "2027-01-01T00:00:00Z",
                "2027-01-31T22:59:59Z",
                "2027-01-31T23:00:00Z",
                "2027-02-28T22:59:59Z",
                "2027-02-28T23:00:00Z");
        for (int i = 0; i < instants.size(); i++) {
            setTime(instants.get(i));
            call(engine, policy, i % 2 == 0 ? 8 : 1);
            call(other, policy, 1);
            assertThat(events).as(instants.get(i)).hasSize(1 + i / 2);
        }
    }

    @Test
    void aPeriodLongerThanItsNominalWindowHasOneEvent() {
        Policy policy = calendarPolicy(CalendarPeriod.Unit.DAY);
        setTime("2026-10-24T22:00:00Z");
        call(engine, policy, 8);
        setTime("2026-10-25T22:30:00Z");
        call(instance(0), policy, 1);
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void aReportAfterThePeriodKeepsTheEventOfTheNextOne() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Policy policy = calendarPolicy(CalendarPeriod.Unit.MONTH);
        setTime("2026-11-30T22:59:59Z");
        call(instance(backend, tasks::add, 0, events::add), policy, 8);
        setTime("2026-11-30T23:00:00Z");
        tasks.remove().run();
        call(engine, policy, 8);
        assertThat(percents()).containsExactly(80, 80);
    }

    @Test
    void aCalendarLimitAndAWindowOfTheSameLengthHaveTheirOwnShares() {
        Policy policy = policy(
                Policy.Mode.ENFORCE,
                List.of(80),
                Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1)),
                calendarLimit(5, CalendarPeriod.Unit.MINUTE));
        setTime("2026-11-24T12:00:05Z");
        call(engine, policy, 4);
        setTime("2026-11-24T12:01:00Z");
        call(engine, policy, 4);
        assertThat(events)
                .extracting(event -> event.quota().name())
                .containsExactly("api-minute", "api-1m", "api-minute");
    }

    @Test
    void aShadowPolicyReportsNothing() {
        call(engine, policy(Policy.Mode.SHADOW, List.of(80), tenAnHour(Algorithm.FIXED_WINDOW)), 9);
        assertThat(events).isEmpty();
    }

    @Test
    void aLimitThatBlocksReportsNothing() {
        call(engine, policy(Policy.Mode.ENFORCE, List.of(80), Limit.of(Algorithm.FIXED_WINDOW, 0, HOUR)), 1);
        assertThat(events).isEmpty();
    }

    @Test
    void callsOfCodeAndLaterCallsReportToo() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80, 90, 100);
        Binding binding = Fixtures.binding(8, policy);
        engine.decide(binding, ANN);
        engine.decideAsync(Fixtures.binding(1, policy), ANN, Runnable::run).join();
        CallContext caller = TestCall.byPrincipal("ann.lee");
        engine.decideLater(Fixtures.binding(1, policy), caller, null, () -> Runnable::run)
                .join();
        assertThat(percents()).containsExactly(80, 90, 100);
        assertThat(events).extracting(QuotaThresholdReached::identity).containsOnly(ANN);
    }

    @Test
    void aDegradedDecisionReportsNothing() {
        FakeBackend down = new FakeBackend();
        down.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        call(instance(down, Runnable::run, 0, events::add), policy(Algorithm.FIXED_WINDOW, 1), 1);
        assertThat(events).isEmpty();
        assertThat(down.calls).hasSize(1);
    }

    @Test
    void theEventIsFiredIfTheBackendFailsToDecideOnTheMark() {
        FakeBackend failing = new FakeBackend() {
            @Override
            public Decision acquire(List<io.weir.ratelimit.spi.Charge> charges) {
                if (charges.get(0).policy().policy().startsWith("+")) {
                    throw down(BackendException.Reason.TIMEOUT);
                }
                return super.acquire(charges);
            }
        };
        RateLimitEngine instance = instance(failing, Runnable::run, 0, events::add);
        call(instance, policy(Algorithm.FIXED_WINDOW, 1), 1);
        call(instance, policy(Algorithm.FIXED_WINDOW, 1), 1);
        assertThat(events).hasSize(1);
    }

    @Test
    void anObserverThatThrowsKeepsNoEventFromTheOthers() {
        Consumer<QuotaThresholdReached> throwing = event -> {
            throw new IllegalStateException("the observer of the test fails");
        };
        RateLimitEngine instance = instance(backend, Runnable::run, 0, throwing, events::add, throwing);
        for (int i = 0; i < 10; i++) {
            assertThat(call(instance, policy(Algorithm.FIXED_WINDOW, 80, 100), 1)
                            .allowed())
                    .isTrue();
        }
        assertThat(percents()).containsExactly(80, 100);
    }

    @Test
    void theCallDoesNotWaitForObserversOrForTheMark() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        FakeBackend calls = new FakeBackend();
        call(instance(calls, tasks::add, 0, events::add), policy(Algorithm.FIXED_WINDOW, 1), 1);
        assertThat(calls.calls).hasSize(1);
        assertThat(events).isEmpty();
        tasks.remove().run();
        assertThat(calls.calls).hasSize(2);
        assertThat(events).hasSize(1);
        assertThat(tasks).isEmpty();
    }

    @Test
    void aFullThreadPoolLosesNoEvent() {
        List<Runnable> tasks = new ArrayList<>();
        Executor full = task -> {
            if (tasks.isEmpty()) {
                tasks.add(task);
                throw new RejectedExecutionException("the pool of the test is full");
            }
            task.run();
        };
        RateLimitEngine instance = instance(backend, full, 0, events::add);
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        call(instance, policy, 8);
        assertThat(events).isEmpty();
        call(instance, policy, 1);
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void pendingReportsAreBounded() {
        List<Runnable> tasks = new ArrayList<>();
        RateLimitEngine instance = instance(backend, tasks::add, 0, events::add);
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        for (int i = 0; i < 2 * QuotaThresholds.MAX_PENDING; i++) {
            instance.decide(Fixtures.binding(8, policy), TestCall.byPrincipal("user" + i), null);
        }
        assertThat(tasks).hasSize(QuotaThresholds.MAX_PENDING);
        List.copyOf(tasks).forEach(Runnable::run);
        instance.decide(
                Fixtures.binding(1, policy),
                TestCall.byPrincipal("user" + (2 * QuotaThresholds.MAX_PENDING - 1)),
                null);
        assertThat(tasks).as("a later decision repeats the report").hasSize(QuotaThresholds.MAX_PENDING + 1);
    }

    @Test
    void aPolicyWithoutSharesIsNotRead() {
        RateLimitEngine instance = instance(
                backend,
                task -> {
                    throw new AssertionError("nothing is reported");
                },
                0,
                events::add);
        assertThat(call(instance, policy(Algorithm.FIXED_WINDOW), 10).allowed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aSettlementThatReachesSharesReportsThem(Algorithm algorithm) {
        Policy policy = policy(algorithm, 50, 80, 100);
        Decision.Allowed reserved = (Decision.Allowed) call(engine, policy, 2);
        engine.settlements().settle(reserved.receipt(), 8);
        assertThat(percents()).containsExactly(50, 80);
        assertThat(events.get(1).endpoint()).isEqualTo("Search.find");
        assertThat(events.get(1).identity()).isEqualTo(ANN);
        assertThat(events.get(1).quota().remaining()).isEqualTo(2);

        call(instance(0), policy, 1);
        assertThat(percents()).as("once in a period").containsExactly(50, 80);
        Decision.Allowed last = (Decision.Allowed) call(engine, policy, 1);
        events.clear();
        engine.settlements().settle(last.receipt(), 5);
        assertThat(percents()).as("reported by the reservation").isEmpty();
    }

    @Test
    void aSettlementIntoDebtReachesTheWholeLimit() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 100);
        Decision.Allowed reserved = (Decision.Allowed) engine.decide(Fixtures.binding(1, policy), ANN);
        engine.settlements()
                .settleAsync(reserved.receipt(), 15)
                .toCompletableFuture()
                .join();
        assertThat(percents()).containsExactly(100);
    }

    @Test
    void aSettlementOfARequestReportsItsShares() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        RequestState request = new RequestState(TestCall.byPrincipal("ann.lee"));
        engine.decide(Fixtures.binding(2, policy), request.caller(), request);
        engine.settlements().settle(request, "api", 9);
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void theReservedCostCountsUntilItIsSettled() {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80, 90);
        Decision.Allowed reserved = (Decision.Allowed) call(engine, policy, 8);
        engine.settlements().settle(reserved.receipt(), 1);
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void aSettlementOfAShadowPolicyReportsNothing() {
        Policy policy = policy(Policy.Mode.SHADOW, List.of(80), tenAnHour(Algorithm.FIXED_WINDOW));
        Decision.Allowed reserved = (Decision.Allowed) call(engine, policy, 1);
        engine.settlements().settle(reserved.receipt(), 9);
        assertThat(events).isEmpty();
    }

    @Test
    void aSettlementThatReportsNothingTakesNoExecutor() {
        AtomicInteger taken = new AtomicInteger();
        RateLimitEngine instance = instance(
                backend,
                () -> {
                    taken.incrementAndGet();
                    return Runnable::run;
                },
                0,
                List.of(events::add));
        Decision silent = call(instance, policy(Algorithm.FIXED_WINDOW), 1);
        instance.settlements()
                .settleAsync(silent.receipt(), 2)
                .toCompletableFuture()
                .join();
        Decision reported = call(instance, policy(Algorithm.FIXED_WINDOW, 80), 3);
        instance.settlements()
                .settleAsync(reported.receipt(), 1)
                .toCompletableFuture()
                .join();
        assertThat(taken).hasValue(0);
        Decision last = call(instance, policy(Algorithm.FIXED_WINDOW, 80), 1);
        instance.settlements()
                .settleAsync(last.receipt(), 7)
                .toCompletableFuture()
                .join();
        assertThat(taken).hasPositiveValue();
        assertThat(percents()).containsExactly(80);
    }

    @Test
    void theSettlementDoesNotWaitForTheReport() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        RateLimitEngine instance = instance(backend, tasks::add, 0, events::add);
        Decision.Allowed reserved = (Decision.Allowed) call(instance, policy(Algorithm.FIXED_WINDOW, 80), 1);
        instance.settlements().settle(reserved.receipt(), 9);
        assertThat(events).isEmpty();
        assertThat(tasks).hasSize(1);
        tasks.remove().run();
        assertThat(percents()).containsExactly(80);
    }

    /** Returns the backend without a result for {@code peek}. */
    private RateLimitBackend withoutPeek() {
        return changed((proxy, method, arguments) -> {
            if (method.getName().equals("peek")) {
                throw FakeBackend.down(BackendException.Reason.TIMEOUT);
            }
            return method.invoke(backend, arguments);
        });
    }

    private static RateLimitBackend changed(InvocationHandler calls) {
        return (RateLimitBackend) Proxy.newProxyInstance(
                QuotaThresholdsTest.class.getClassLoader(),
                new Class<?>[] {RateLimitBackend.class, SettlesCharges.class},
                calls);
    }

    @ParameterizedTest
    @ValueSource(strings = {"receipt", "request"})
    void theExecutorIsThatOfTheThreadThatSettles(String kind) throws InterruptedException {
        CompletableFuture<Void> reply = new CompletableFuture<>();
        RateLimitBackend slow = changed((proxy, method, arguments) -> switch (method.getName()) {
            case "settle" -> reply.thenCompose(done -> settling(arguments));
            case "capability" -> Optional.of(proxy).filter(((Class<?>) arguments[0])::isInstance);
            default -> method.invoke(backend, arguments);
        });
        List<Thread> takenOn = new ArrayList<>();
        RateLimitEngine instance = instance(
                slow,
                () -> {
                    takenOn.add(Thread.currentThread());
                    return Runnable::run;
                },
                0,
                List.of(events::add));
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        RequestState request = new RequestState(TestCall.byPrincipal("ann.lee"));
        Decision decision = instance.decide(Fixtures.binding(2, policy), request.caller(), request);
        if (kind.equals("receipt")) {
            instance.settlements().settleAsync(decision.receipt(), 9);
        } else {
            instance.settlements().settleAsync(request, "api", 9);
        }
        Thread ofReply = new Thread(() -> reply.complete(null));
        ofReply.start();
        ofReply.join();
        assertThat(percents()).containsExactly(80);
        assertThat(takenOn).isNotEmpty().containsOnly(Thread.currentThread());
    }

    @SuppressWarnings("unchecked")
    private CompletionStage<List<Charge>> settling(Object[] arguments) {
        return ((SettlesCharges) backend)
                .settle((Receipt) arguments[0], (Predicate<Charge>) arguments[1], (Long) arguments[2]);
    }

    @Test
    void aShareByApproximateCountsCausesNoEvent() {
        RateLimitEngine full = instance(new LocalBackend(1, time), Runnable::run, 0, events::add);
        Binding flooded =
                Fixtures.binding(10, policy(Policy.Mode.ENFORCE, List.of(), tenAnHour(Algorithm.FIXED_WINDOW)));
        for (int user = 0; user < 20_000; user++) {
            full.decide(flooded, TestCall.byPrincipal("user" + user), null);
        }
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80, 100);
        assertThat(call(full, policy, 1).allowed()).isFalse();
        assertThat(events).isEmpty();
        full.decide(Fixtures.binding(1, policy), TestCall.byPrincipal("user0"), null);
        assertThat(percents()).as("of the key with the place").containsExactly(80, 100);
    }

    @Test
    void theSharesOfAKeyAreAskedOnceWhetherTheyAreApproximate() {
        List<Object> asked = new ArrayList<>();
        RateLimitBackend counting = changed((proxy, method, arguments) -> {
            if (method.getName().equals("capability") && arguments[0] == RemembersRejections.class) {
                asked.add(arguments[0]);
            }
            return method.invoke(backend, arguments);
        });
        call(instance(counting, Runnable::run, 0, events::add), policy(Algorithm.FIXED_WINDOW, 50, 80), 9);
        assertThat(percents()).containsExactly(50, 80);
        assertThat(asked).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"another instance", "no thread", "the backend fails"})
    void theNextDecisionReportsWhatASettlementDoesNot(String cause) {
        Policy policy = policy(Algorithm.FIXED_WINDOW, 80);
        Executor executor = task -> {
            if (cause.equals("no thread")) {
                throw new RejectedExecutionException("the pool of the test is full");
            }
            task.run();
        };
        RateLimitBackend shared = cause.equals("the backend fails") ? withoutPeek() : backend;
        RateLimitEngine reserving = instance(shared, executor, 0, events::add);
        RateLimitEngine settling = cause.equals("another instance") ? instance(0) : reserving;
        Decision.Allowed reserved = (Decision.Allowed) call(reserving, policy, 1);
        settling.settlements().settle(reserved.receipt(), 8);
        assertThat(events).isEmpty();
        call(engine, policy, 1);
        assertThat(percents()).containsExactly(80);
    }
}
