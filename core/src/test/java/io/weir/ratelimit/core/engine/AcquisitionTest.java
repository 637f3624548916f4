// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.health;
import static io.weir.ratelimit.core.engine.Fixtures.withFallback;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AcquisitionTest {
    private static final TestCall ALICE = TestCall.byPrincipal("alice");
    private static final Policy PACED = waiting("paced", Algorithm.LEAKY_BUCKET, 10, 500, 2);
    private static final Policy WINDOW = waiting("window", Algorithm.FIXED_WINDOW, 1, 2_500, 2);

    private final ManualTime time = new ManualTime();
    private final ManualSleeper sleeper = new ManualSleeper(time);
    private final LocalBackend backend = new LocalBackend(100, time);
    private final List<DecisionEvent> events = new ArrayList<>();
    private final RateLimitEngine engine = engine(backend, sleeper, events::add);
    private final Deque<Runnable> executor = new ArrayDeque<>();
    private final RateLimiter limiter = new EngineRateLimiter(
            engine, () -> Map.of("paced", PACED, "window", WINDOW), () -> executor::add, Optional::empty);

    private static Policy waiting(String name, Algorithm algorithm, long permits, long maxWaitMillis, int maxWaiting) {
        Limit limit = Limit.of(algorithm, permits, Duration.ofSeconds(1)).withMaxWait(Duration.ofMillis(maxWaitMillis));
        return Policy.builder(
                        new PolicyLimits(name, List.of(limit)), KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .maxWaiting(maxWaiting)
                .build();
    }

    private Decision call(Policy... policies) {
        return engine.decide(binding(1, policies), ALICE, null);
    }

    private long owedMicros() {
        return Micros.resetAfter(limiter.peek("paced", io.weir.ratelimit.Identity.principal("alice"))
                .get(0));
    }

    @Test
    void waitsForReservedPermits() {
        long start = time.micros();
        assertThat(call(PACED)).isInstanceOf(Decision.Allowed.class);
        Decision second = call(PACED);
        assertThat(((Decision.Allowed) second).waitMicros()).isEqualTo(100_000);
        assertThat(time.micros() - start).isEqualTo(100_000);
        assertThat(sleeper.waits).containsExactly(100_000L);
        assertThat(events).hasSize(2);
    }

    @Test
    void rejectsACallThatWouldWaitTooLong() {
        for (int call = 0; call < 6; call++) {
            backend.acquire(List.of(new Charge(PACED.limits(), "p.alice", 1, PACED.maxWaitMicros())));
        }
        Decision rejected = call(PACED);
        assertThat(Micros.retryAfter(((Decision.Rejected) rejected).decisiveQuota()))
                .isEqualTo(100_000);
        assertThat(sleeper.waits).isEmpty();
    }

    @Test
    void repeatsACallUnderAWindowUntilItIsAllowed() {
        call(WINDOW);
        // Another caller is faster, twice.
        int[] others = {2};
        sleeper.meanwhile = () -> {
            if (others[0]-- > 0) {
                backend.acquire(List.of(new Charge(WINDOW.limits(), "p.alice", 1)));
            }
        };
        Policy longer = waiting("window", Algorithm.FIXED_WINDOW, 1, 3_000, 2);
        assertThat(call(longer)).isInstanceOf(Decision.Allowed.class);
        assertThat(sleeper.waits).containsExactly(1_000_000L, 1_000_000L, 1_000_000L);
        assertThat(events)
                .as("a call is one decision, however often it calls the backend")
                .hasSize(2);
    }

    @Test
    void repeatsACallUnderAWindowWithinTheMaxWait() {
        call(WINDOW);
        sleeper.meanwhile = () -> backend.acquire(List.of(new Charge(WINDOW.limits(), "p.alice", 1)));
        Decision rejected = call(WINDOW);
        assertThat(Micros.retryAfter(((Decision.Rejected) rejected).decisiveQuota()))
                .isEqualTo(1_000_000);
        assertThat(sleeper.waits).containsExactly(1_000_000L, 1_000_000L);
    }

    @Test
    void eachPolicyHasAMaxWait() {
        Policy unwaiting = waiting("unwaiting", Algorithm.FIXED_WINDOW, 1, 0, 2);
        assertThat(call(PACED, unwaiting).allowed()).isTrue();
        assertThat(call(PACED, unwaiting).allowed())
                .as("the policy without a max-wait rejects at once")
                .isFalse();
        assertThat(sleeper.waits).isEmpty();
        time.advanceMicros(1_000_000);
        call(PACED);
        assertThat(call(PACED, unwaiting).allowed()).isTrue();
        assertThat(sleeper.waits).containsExactly(100_000L);
    }

    @Test
    void rejectsACallAtOnceIfMaxWaitingCallsWait() throws Exception {
        sleeper.gate = new CountDownLatch(1);
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            call(PACED);
            List<Future<Decision>> waiting = List.of(pool.submit(() -> call(PACED)), pool.submit(() -> call(PACED)));
            awaitWaits(2);
            Decision rejected = call(PACED);
            assertThat(Micros.retryAfter(((Decision.Rejected) rejected).decisiveQuota()))
                    .isEqualTo(300_000);
            assertThat(owedMicros()).as("the rejected call holds no permits").isEqualTo(300_000);
            sleeper.gate.countDown();
            for (Future<Decision> each : waiting) {
                assertThat(each.get(10, TimeUnit.SECONDS).allowed()).isTrue();
            }
            assertThat(call(PACED).allowed()).as("the bulkhead has room again").isTrue();
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void refundsReservedPermitsIfTheBulkheadIsFull() {
        Policy single = waiting("paced", Algorithm.LEAKY_BUCKET, 10, 500, 1);
        call(single);
        WaitBulkhead threads = WaitBulkhead.ofThreads();
        // Another call enters the bulkhead between the first look for room and the answer of the backend.
        FakeBackend between = new FakeBackend() {
            @Override
            public Decision acquire(List<Charge> charges) {
                Decision decision = backend.acquire(charges);
                threads.tryEnter(List.of(single));
                return decision;
            }

            @Override
            public CompletionStage<Void> refund(Receipt receipt) {
                return backend.refund(receipt);
            }
        };
        RateLimitEngine crowded =
                engine(withFallback(between, health(between)), sleeper, threads, WaitBulkhead.withoutThreads());
        Decision decision = crowded.decide(binding(1, single), ALICE, null);
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        assertThat(owedMicros()).isEqualTo(100_000);
        assertThat(sleeper.waits).isEmpty();
    }

    @Test
    void aWaitingCallDoesNotBlockOtherCallsOfTheRequest() throws Exception {
        RequestState request = new RequestState(ALICE);
        Binding other = binding(1, waiting("other", Algorithm.FIXED_WINDOW, 1, 0, 1));
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            for (Policy policy : List.of(PACED, WINDOW)) {
                call(policy);
                sleeper.gate = new CountDownLatch(1);
                int before = sleeper.waitCount();
                Future<Decision> waiting = pool.submit(() -> engine.decide(binding(1, policy), ALICE, request));
                awaitWaits(before + 1);
                assertThat(pool.submit(() ->
                                        engine.decide(other, ALICE, request).allowed())
                                .get(10, TimeUnit.SECONDS))
                        .isTrue();
                time.advanceMicros(1_000_000);
                sleeper.gate.countDown();
                assertThat(waiting.get(10, TimeUnit.SECONDS).allowed()).isTrue();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void chargesARequestOnceWhileItWaits() throws Exception {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        sleeper.meanwhile = () -> engine.decide(binding("Search.other", 1, PACED), ALICE, request);
        assertThat(engine.decide(binding(1, PACED), ALICE, request).allowed()).isTrue();
        assertThat(events).hasSize(2);
        assertThat(owedMicros()).isEqualTo(100_000);
    }

    @Test
    void aRejectionBeforeAWaitIsNotADecisionOfTheRequest() {
        RequestState request = new RequestState(ALICE);
        call(WINDOW);
        sleeper.meanwhile = () -> assertThat(request.quotas().last()).isEmpty();
        assertThat(engine.decide(binding(1, WINDOW), ALICE, request).allowed()).isTrue();
        assertThat(sleeper.waits).hasSize(1);
        assertThat(request.quotas().last()).containsInstanceOf(Decision.Allowed.class);
    }

    @Test
    void anInterruptRefundsReservedPermitsAndRejects() {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        Thread.currentThread().interrupt();
        Decision alone = call(PACED);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(alone).isInstanceOf(Decision.Rejected.class);
        Thread.currentThread().interrupt();
        Decision inRequest = engine.decide(binding(1, PACED), ALICE, request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(inRequest).isInstanceOf(Decision.Rejected.class);
        assertThat(request.quotas().last()).contains(inRequest);
        assertThat(owedMicros()).isEqualTo(100_000);
        assertThat(engine.decide(binding(1, PACED), ALICE, request).allowed())
                .as("the refunded charge is due again")
                .isTrue();
        assertThat(events)
                .last()
                .extracting(event -> event.decision().allowed())
                .isEqualTo(true);
    }

    @Test
    void anInterruptRejectsACallUnderAWindow() {
        call(WINDOW);
        Thread.currentThread().interrupt();
        assertThat(call(WINDOW)).isInstanceOf(Decision.Rejected.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(call(WINDOW).allowed()).isTrue();
    }

    private CompletableFuture<Decision> async(String policy) {
        return limiter.acquireAsync(policy, "a").toCompletableFuture();
    }

    private void runAll() {
        for (Runnable next = executor.poll(); next != null; next = executor.poll()) {
            next.run();
        }
    }

    @Test
    void anAsynchronousCallWaitsWithoutAThread() {
        limiter.acquire("paced", "a");
        CompletableFuture<Decision> decision = async("paced");
        runAll();
        assertThat(decision).isNotDone();
        assertThat(sleeper.waits).containsExactly(100_000L);
        sleeper.timers.get(0).complete(null);
        assertThat(decision).as("not on the thread of the timer").isNotDone();
        runAll();
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
        assertThat(events).hasSize(2);
    }

    @Test
    void asynchronousCallsLeaveTheThreadsOfTheBulkheadToOthers() {
        limiter.acquire("paced", "a");
        List<CompletableFuture<Decision>> calls = List.of(async("paced"), async("paced"), async("paced"));
        runAll();
        assertThat(calls).allSatisfy(call -> assertThat(call).isNotDone());
        assertThat(limiter.acquire("paced", "a").allowed())
                .as("no thread waits yet")
                .isTrue();
        assertThat(sleeper.waits).containsExactly(100_000L, 200_000L, 300_000L, 400_000L);
    }

    @Test
    void boundsAsynchronousCalls() {
        int bound = Policy.MAX_WAITING_WITHOUT_THREAD;
        Policy wide = waiting("paced", Algorithm.LEAKY_BUCKET, 10, 3_600_000, 1);
        List<CompletableFuture<Decision>> calls = new ArrayList<>();
        for (int call = 0; call < bound + 2; call++) {
            calls.add(engine.decideAsync(binding(1, wide), Identity.principal("alice"), executor::add));
        }
        runAll();
        assertThat(calls.get(0)).isDone();
        assertThat(calls.get(bound)).isNotDone();
        assertThat(calls.get(bound + 1)).isCompletedWithValueMatching(last -> last instanceof Decision.Rejected);
        assertThat(sleeper.waits).hasSize(bound);
    }

    @Test
    void repeatsAnAsynchronousCallUnderAWindow() {
        limiter.acquire("window", "a");
        CompletableFuture<Decision> decision = async("window");
        time.advanceMicros(1_000_000);
        limiter.acquire("window", "a");
        sleeper.timers.get(0).complete(null);
        runAll();
        assertThat(sleeper.waits).containsExactly(1_000_000L, 1_000_000L);
        time.advanceMicros(1_000_000);
        sleeper.timers.get(1).complete(null);
        runAll();
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
    }

    @Test
    void aCanceledCallRefundsItsPermitsAndLeavesTheBulkhead() {
        limiter.acquire("paced", "a");
        for (int call = 0; call < 5; call++) {
            CompletableFuture<Decision> decision = async("paced");
            decision.cancel(true);
            runAll();
            assertThat(sleeper.timers.get(call)).isCancelled();
        }
        assertThat(Micros.resetAfter(limiter.peek("paced", "a").get(0))).isEqualTo(100_000);
        assertThat(events).as("a canceled call is not decided").hasSize(1);
    }

    @Test
    void aFailingTimerFailsTheCallAndLeavesTheBulkhead() {
        Error failure = new OutOfMemoryError("unable to create a thread");
        Sleeper failing = new Sleeper() {
            @Override
            public long nanos() {
                return sleeper.nanos();
            }

            @Override
            public CompletableFuture<Void> timer(long micros) {
                throw failure;
            }
        };
        RateLimitEngine broken = engine(backend, failing);
        backend.acquire(List.of(new Charge(PACED.limits(), "p.alice", 1)));
        for (int call = 0; call < 5; call++) {
            CompletableFuture<Decision> decision =
                    broken.decideAsync(binding(1, PACED), Identity.principal("alice"), executor::add);
            runAll();
            assertThat(decision).isCompletedExceptionally();
            assertThat(decision.handle((decided, thrown) -> thrown)).isCompletedWithValue(failure);
        }
    }

    @Test
    void refundsACallWhoseExecutorRejectsItsCompletion() {
        Charge charge = new Charge(WINDOW.limits(), "p.alice", 1);
        List<Quota> before = backend.peek(List.of(charge));
        CompletableFuture<Decision> decision =
                engine.decideAsync(binding(1, WINDOW), Identity.principal("alice"), task -> {
                    throw new RejectedExecutionException("the executor is stopped");
                });
        assertThat(decision).isCompletedExceptionally();
        assertThat(backend.peek(List.of(charge)))
                .extracting(Quota::remaining)
                .isEqualTo(before.stream().map(Quota::remaining).toList());
    }

    private CompletableFuture<Decision> later(Policy policy, RequestState request) {
        return engine.decideLater(binding(1, policy), ALICE, request, () -> executor::add);
    }

    @Test
    void aMethodIsDecidedOnTheThreadOfTheCallerIfItNeedNotWait() {
        CompletableFuture<Decision> decision = engine.decideLater(binding(1, PACED), ALICE, null, () -> {
            throw new AssertionError("no executor is needed");
        });
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
        Policy unwaiting = waiting("unwaiting", Algorithm.FIXED_WINDOW, 1, 0, 2);
        assertThat(later(unwaiting, null)).isCompletedWithValueMatching(Decision::allowed);
        assertThat(later(unwaiting, null)).isCompletedWithValueMatching(rejected -> !rejected.allowed());
        assertThat(events).hasSize(3);
    }

    @Test
    void aMethodWaitsWithoutAThreadAndIsChargedOnceInItsRequest() {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        CompletableFuture<Decision> decision = later(PACED, request);
        assertThat(decision).isNotDone();
        assertThat(sleeper.waits).containsExactly(100_000L);
        time.advanceMicros(100_000);
        sleeper.timers.get(0).complete(null);
        assertThat(decision).as("not on the thread of the timer").isNotDone();
        runAll();
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
        assertThat(engine.decide(binding("Search.other", 1, PACED), ALICE, request))
                .isEqualTo(Decision.Allowed.UNLIMITED);
        assertThat(request.quotas().last()).containsInstanceOf(Decision.Allowed.class);
        assertThat(events).hasSize(2);
    }

    @Test
    void aMethodUnderAWindowIsRejectedAfterItsMaxWait() {
        RequestState request = new RequestState(ALICE);
        call(WINDOW);
        CompletableFuture<Decision> decision = later(WINDOW, request);
        for (int wait = 0; wait < 2; wait++) {
            time.advanceMicros(1_000_000);
            backend.acquire(List.of(new Charge(WINDOW.limits(), "p.alice", 1)));
            sleeper.timers.get(wait).complete(null);
            runAll();
        }
        assertThat(decision).isCompletedWithValueMatching(rejected -> rejected instanceof Decision.Rejected);
        assertThat(request.quotas().last()).containsInstanceOf(Decision.Rejected.class);
        assertThat(sleeper.waits).containsExactly(1_000_000L, 1_000_000L);
    }

    @Test
    void aCanceledMethodRefundsItsSlotAndTheRequestPaysAgain() {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        later(PACED, request).cancel(true);
        runAll();
        assertThat(sleeper.timers.get(0)).isCancelled();
        assertThat(owedMicros()).isEqualTo(100_000);
        assertThat(later(PACED, request)).isNotDone();
        assertThat(owedMicros()).isEqualTo(200_000);
    }

    @Test
    void aCanceledMethodThatHasSharedAChargePaysTheSamePartAgain() {
        Limit limit =
                Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1), 3).withMaxWait(Duration.ofSeconds(1));
        Policy paced = Policy.builder(new PolicyLimits("paced", List.of(limit)), PACED.key())
                .build();
        RequestState request = new RequestState(ALICE);
        engine.decide(binding("Search.page", 1, paced), ALICE, request);
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Decision> dearer =
                    engine.decideLater(binding(4, paced), ALICE, request, () -> executor::add);
            assertThat(dearer).isNotDone();
            assertThat(Micros.resetAfter(backend.peek(List.of(new Charge(paced.limits(), "p.alice", 1)))
                            .get(0)))
                    .as("4 permits, of which 1 was paid")
                    .isEqualTo(400_000);
            dearer.cancel(true);
            runAll();
            assertThat(Micros.resetAfter(backend.peek(List.of(new Charge(paced.limits(), "p.alice", 1)))
                            .get(0)))
                    .isEqualTo(100_000);
        }
    }

    @Test
    void theEndOfTheRequestCancelsTheWaitOfItsMethod() {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        CompletableFuture<Decision> decision = later(PACED, request);
        request.waitFor(binding(1, PACED), decision);
        assertThat(request.waiting("Search.find"))
                .map(RequestState.Wait::decision)
                .containsSame(decision);
        assertThat(request.waiting("Search.other")).isEmpty();
        request.endWait();
        request.endWait();
        runAll();
        assertThat(decision).isCancelled();
        assertThat(owedMicros()).isEqualTo(100_000);
    }

    @Test
    void theEndOfTheApplicationCancelsAllWaitsWithoutAThread() {
        call(PACED);
        limiter.acquire("paced", "a");
        List<CompletableFuture<Decision>> waiting = List.of(later(PACED, null), async("paced"));
        engine.stop();
        runAll();
        assertThat(waiting).allSatisfy(each -> assertThat(each).isCancelled());
        assertThat(owedMicros()).isEqualTo(100_000);
    }

    @Test
    void theEndOfTheApplicationCancelsTheWaitOfAThread() {
        RequestState request = new RequestState(ALICE);
        call(PACED);
        sleeper.meanwhile = engine::stop;
        assertThatThrownBy(() -> engine.decide(binding(1, PACED), ALICE, request))
                .isInstanceOf(CancellationException.class);
        assertThat(owedMicros()).as("the time of the wait has passed").isZero();
        assertThat(engine.decide(binding(1, PACED), ALICE, request).allowed())
                .as("the refunded charge is due again")
                .isTrue();
        assertThat(owedMicros()).isEqualTo(100_000);
        call(WINDOW);
        assertThatThrownBy(() -> call(WINDOW)).as("a wait that begins later").isInstanceOf(CancellationException.class);
        assertThat(sleeper.waits).containsExactly(100_000L);
    }

    @Test
    void aMethodWithoutAnExecutorRefundsItsSlot() {
        call(PACED);
        RejectedExecutionException stopped = new RejectedExecutionException("the executor is stopped");
        assertThatThrownBy(() -> engine.decideLater(binding(1, PACED), ALICE, null, () -> {
                    throw stopped;
                }))
                .isSameAs(stopped);
        assertThat(owedMicros()).isEqualTo(100_000);
        CompletableFuture<Decision> decision = engine.decideLater(binding(1, PACED), ALICE, null, () -> task -> {
            throw stopped;
        });
        sleeper.timers.get(0).complete(null);
        assertThat(decision).isCompletedExceptionally();
        assertThat(owedMicros()).isEqualTo(100_000);
    }

    private void awaitWaits(int count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (sleeper.waitCount() < count && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(sleeper.waitCount()).isEqualTo(count);
    }

    @Test
    void aShadowPolicyDoesNotChangeTheWait() {
        Charge shadow = new Charge(PACED.limits(), "p.alice", 10).asShadow();
        Charge window = new Charge(WINDOW.limits(), "p.alice", 1, 2_500_000);
        backend.acquire(List.of(shadow, window));
        Decision rejected = backend.acquire(List.of(shadow, window));
        assertThat(rejected).isInstanceOf(Decision.Rejected.class);
        assertThat(CallWait.askedBy(new TimedDecision(List.of(shadow, window), rejected, 0, 0, null)))
                .isEqualTo(1_000_000);
        assertThat(Acquisition.withoutMaxWait(List.of(shadow, window)))
                .containsExactly(shadow, new Charge(WINDOW.limits(), "p.alice", 1));
    }
}
