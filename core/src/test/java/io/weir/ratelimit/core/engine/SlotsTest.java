// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.health;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.fallback.InstanceShare;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.SlotListener;
import io.weir.ratelimit.core.slots.SlotQueues;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The slots of running calls: renewal, release, waits, and decisions without the backend. */
class SlotsTest {
    private static final TestCall ALICE = TestCall.byPrincipal("alice");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long THIRD_MICROS = 20_000_000;
    private static final Policy SLOW = policy(2, Duration.ZERO, FailureMode.OPEN);

    private final ManualTime time = new ManualTime();
    private final ManualSleeper sleeper = new ManualSleeper(time);
    private final Backend backend = new Backend(time);
    private final RateLimitEngine engine = engine(backend, sleeper);

    private static Policy policy(int calls, Duration maxWait, FailureMode onFailure, Limit... others) {
        List<Limit> limits = new ArrayList<>(List.of(others));
        limits.add(Limit.concurrency(calls, TIMEOUT));
        return Policy.builder(
                        new PolicyLimits(
                                "slow",
                                limits.stream()
                                        .map(limit -> limit.withMaxWait(maxWait))
                                        .toList()),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .onFailure(onFailure)
                .maxWaiting(10)
                .build();
    }

    /** A local backend whose releases and decisions can fail. */
    private static final class Backend extends FakeBackend implements HoldsSlots {
        final LocalBackend local;
        int releases;
        int failingReleases;
        int failingRefunds;
        int renewals;
        int failingRenewals;
        CompletionStage<List<Receipt>> nextRenewal;

        Backend(TimeSource time) {
            local = new LocalBackend(100, time);
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            if (failure != null) {
                throw failure;
            }
            return local.acquire(charges);
        }

        @Override
        public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
            return stage == null ? CompletableFuture.completedStage(acquire(charges)) : stage;
        }

        @Override
        public List<Quota> peek(List<Charge> charges) {
            return local.peek(charges);
        }

        @Override
        public CompletionStage<Boolean> release(Receipt receipt) {
            releases++;
            if (failingReleases-- > 0) {
                return CompletableFuture.failedStage(down(BackendException.Reason.TIMEOUT));
            }
            return local.release(receipt);
        }

        @Override
        public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
            renewals++;
            if (nextRenewal != null) {
                return nextRenewal;
            }
            return failingRenewals-- > 0
                    ? CompletableFuture.failedStage(down(BackendException.Reason.TIMEOUT))
                    : local.renew(receipts);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            return failingRefunds-- > 0
                    ? CompletableFuture.failedStage(down(BackendException.Reason.TIMEOUT))
                    : local.refund(receipt);
        }
    }

    private Decision call(Policy policy) {
        return engine.decide(binding(1, policy), ALICE, null);
    }

    private long free(Policy policy) {
        return backend.peek(List.of(new Charge(policy.limits(), "p.alice", 1)))
                .get(0)
                .remaining();
    }

    /** Runs the latest timer after its time. */
    private void tick(long micros) {
        time.advanceMicros(micros);
        sleeper.timers.get(sleeper.timers.size() - 1).complete(null);
    }

    @Test
    void aRunningCallKeepsItsSlotAndAReleaseFreesIt() {
        Receipt receipt = call(SLOW).receipt();
        assertThat(engine.ends().slots().held("slow")).isEqualTo(1);
        for (int third = 1; third <= 180; third++) {
            tick(THIRD_MICROS);
            assertThat(free(SLOW)).isEqualTo(1);
        }
        assertThat(engine.ends().slots().lost()).isZero();
        engine.ends().release(receipt);
        assertThat(free(SLOW)).isEqualTo(2);
        assertThat(engine.ends().slots().held("slow")).isZero();
    }

    @Test
    void noTimerRunsWithoutSlots() {
        engine.ends().release(call(SLOW).receipt());
        assertThat(sleeper.timers).hasSize(1);
        tick(THIRD_MICROS);
        assertThat(backend.renewals).isZero();
        assertThat(sleeper.timers).hasSize(1);
        call(SLOW);
        assertThat(sleeper.timers).hasSize(2);
    }

    @Test
    void aSecondReleaseHasNoEffect() {
        Receipt first = call(SLOW).receipt();
        call(SLOW);
        engine.ends().release(first);
        engine.ends().release(first);
        engine.ends().release(Receipt.EMPTY);
        assertThat(backend.releases).isEqualTo(1);
        assertThat(engine.ends().slots().held("slow")).isEqualTo(1);
        assertThat(free(SLOW)).isEqualTo(1);
    }

    @Test
    void aFailedReleaseIsTriedAgainUntilTheSlotHasExpired() {
        Receipt first = call(SLOW).receipt();
        Receipt second = call(SLOW).receipt();
        backend.failingReleases = 3;
        engine.ends().release(first);
        assertThat(free(SLOW)).isZero();
        tick(1_000_000);
        tick(1_000_000);
        assertThat(free(SLOW)).isZero();
        tick(1_000_000);
        assertThat(free(SLOW)).isEqualTo(1);

        backend.failingReleases = Integer.MAX_VALUE;
        engine.ends().release(second);
        for (int second60 = 0; second60 < 60; second60++) {
            tick(1_000_000);
        }
        int releases = backend.releases;
        int timers = sleeper.timers.size();
        tick(1_000_000);
        assertThat(backend.releases).isEqualTo(releases);
        assertThat(sleeper.timers).hasSize(timers);
    }

    @Test
    void aFailedReleaseOfSeveralSlotsIsTriedAgainUntilTheLastOneHasExpired() {
        Policy quick = Policy.builder(
                        new PolicyLimits("quick", List.of(Limit.concurrency(2, Duration.ofSeconds(2)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .build();
        Receipt both = engine.decide(binding(1, quick, SLOW), ALICE, null).receipt();
        backend.failingReleases = 4;
        engine.ends().release(both);
        for (int second = 0; second < 4; second++) {
            assertThat(free(SLOW)).isEqualTo(1);
            tick(1_000_000);
        }
        assertThat(free(SLOW)).isEqualTo(2);
    }

    @Test
    void aSlotIsReleasedAlthoughItsRefundFails() {
        Policy paced = policy(
                2,
                Duration.ofSeconds(10),
                FailureMode.OPEN,
                Limit.of(Algorithm.TOKEN_BUCKET, 1, Duration.ofSeconds(5)));
        Deque<Runnable> executor = new ArrayDeque<>();
        RateLimiter limiter =
                new EngineRateLimiter(engine, () -> Map.of("slow", paced), () -> executor::add, Optional::empty);
        Identity alice = Identity.principal("alice");
        limiter.acquire("slow", alice);
        CompletableFuture<Decision> waiting =
                limiter.acquireAsync("slow", alice).toCompletableFuture();
        runAll(executor);
        assertThat(waiting).isNotDone();
        assertThat(engine.ends().slots().held("slow")).isEqualTo(2);
        backend.failingRefunds = 1;
        waiting.cancel(false);
        tick(10_000_000);
        runAll(executor);
        assertThat(engine.ends().slots().held("slow")).isEqualTo(1);
        assertThat(backend.releases).isEqualTo(1);
    }

    @Test
    void aCallWhoseSlotExpiredIsCountedOnce() {
        Receipt receipt = call(SLOW).receipt();
        tick(61_000_000);
        assertThat(engine.ends().slots().lost()).isEqualTo(1);
        tick(61_000_000);
        assertThat(engine.ends().slots().lost()).isEqualTo(1);
        assertThat(engine.ends().slots().held("slow")).as("the call still runs").isEqualTo(1);
        engine.ends().release(receipt);
        assertThat(engine.ends().slots().held("slow")).isZero();
    }

    @Test
    void aFailedRenewalIsTriedAgainEverySecond() {
        call(SLOW);
        assertThat(sleeper.waits).last().isEqualTo(THIRD_MICROS);
        backend.failingRenewals = 30;
        tick(THIRD_MICROS);
        for (int second = 1; second <= 30; second++) {
            assertThat(sleeper.waits).last().isEqualTo(1_000_000L);
            tick(1_000_000);
            assertThat(backend.renewals).isEqualTo(1 + second);
        }
        assertThat(sleeper.waits).as("after a renewal that succeeds").last().isEqualTo(THIRD_MICROS);
        assertThat(free(SLOW)).isEqualTo(1);
        tick(THIRD_MICROS);
        assertThat(free(SLOW)).isEqualTo(1);
        assertThat(engine.ends().slots().lost()).isZero();
    }

    @Test
    void aRenewalThatFailsDoesNotEndTheRenewalsOfOtherCalls() {
        Policy many = policy(600, Duration.ZERO, FailureMode.OPEN);
        List<Receipt> receipts = new ArrayList<>();
        for (int calls = 0; calls < 513; calls++) {
            receipts.add(call(many).receipt());
        }
        backend.failingRenewals = 1;
        tick(THIRD_MICROS);
        assertThat(backend.renewals).as("batches of at most 512 calls").isEqualTo(2);
        assertThat(sleeper.waits).last().isEqualTo(1_000_000L);
        tick(1_000_000);
        assertThat(backend.renewals).isEqualTo(4);
        assertThat(sleeper.waits).last().isEqualTo(THIRD_MICROS);
        assertThat(engine.ends().slots().held("slow")).isEqualTo(receipts.size());
    }

    @Test
    void aRenewalThatFailsLateIsTriedAgainAfterASecond() {
        call(SLOW);
        CompletableFuture<List<Receipt>> reply = new CompletableFuture<>();
        backend.nextRenewal = reply;
        tick(THIRD_MICROS);
        tick(THIRD_MICROS);
        assertThat(backend.renewals).as("one renewal at a time").isEqualTo(1);
        assertThat(sleeper.waits).last().isEqualTo(THIRD_MICROS);
        backend.nextRenewal = null;
        reply.completeExceptionally(FakeBackend.down(BackendException.Reason.TIMEOUT));
        assertThat(sleeper.waits).last().isEqualTo(1_000_000L);
        tick(1_000_000);
        assertThat(backend.renewals).isEqualTo(2);
        assertThat(engine.ends().slots().lost()).isZero();
    }

    @Test
    void aListenerHasTheNumbersOfRunningAndOfLostCalls() {
        List<String> numbers = new ArrayList<>();
        engine.ends()
                .slots()
                .listener(
                        new SlotListener() {
                            @Override
                            public void held(String policy, int calls) {
                                numbers.add(policy + " holds " + calls);
                            }

                            @Override
                            public void lost(String policy) {
                                numbers.add(policy + " has lost one");
                            }
                        },
                        List.of("slow"));
        Receipt first = call(SLOW).receipt();
        Receipt second = call(SLOW).receipt();
        assertThat(numbers).containsExactly("slow holds 0", "slow holds 1", "slow holds 2");
        numbers.clear();
        try (LogCapture log = new LogCapture()) {
            tick(61_000_000);
            assertThat(numbers).containsExactly("slow has lost one", "slow has lost one", "slow holds 2");
            assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-425");
        }
        numbers.clear();
        engine.ends().release(first);
        engine.ends().release(second);
        assertThat(numbers).containsExactly("slow holds 1", "slow holds 0");
    }

    @Test
    void aReceiptThatNobodyReleasesIsNoLongerRenewedAfterItIsUnreachable() {
        call(SLOW);
        call(SLOW);
        try (LogCapture log = new LogCapture()) {
            Await.until("the receipts are unreachable", Duration.ofMinutes(1), () -> {
                System.gc();
                tick(1);
                return engine.ends().slots().held("slow") == 0;
            });
            assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-426");
        }
        int renewals = backend.renewals;
        time.advanceMicros(TIMEOUT.toNanos() / 1_000);
        assertThat(free(SLOW)).isEqualTo(2);
        assertThat(backend.renewals).isEqualTo(renewals);
    }

    @Test
    void aCallThatEndsRightAfterAPauseOfItsProcessHasLostItsSlot() {
        Receipt lost = call(SLOW).receipt();
        time.advanceMicros(61_000_000);
        Receipt kept = call(SLOW).receipt();
        engine.ends().release(lost);
        assertThat(engine.ends().slots().lost()).isEqualTo(1);
        engine.ends().release(kept);
        assertThat(engine.ends().slots().lost()).isEqualTo(1);
    }

    @Test
    void aRepeatedReleaseOfAReleasedSlotIsNoLoss() {
        Receipt receipt = call(SLOW).receipt();
        backend.failingReleases = 1;
        engine.ends().release(receipt);
        backend.local.release(receipt); // the reply was lost, and not the release
        tick(1_000_000);
        assertThat(engine.ends().slots().held("slow")).isZero();
        assertThat(engine.ends().slots().lost()).isZero();
    }

    @Test
    void theEndOfTheApplicationReleasesAllSlots() {
        Receipt one = call(SLOW).receipt();
        Receipt two = call(SLOW).receipt();
        engine.stop();
        assertThat(free(SLOW)).isEqualTo(2);
        engine.ends().release(one);
        engine.ends().release(two);
        assertThat(backend.releases).isEqualTo(2);
    }

    @Test
    void theEndOfARequestReleasesItsSlots() {
        RequestState request = new RequestState(ALICE);
        engine.decide(binding(1, SLOW), ALICE, request);
        engine.ends().release(request);
        assertThat(free(SLOW)).isEqualTo(2);
    }

    @Test
    void aRequestTakesOneSlotOfAPolicyAlthoughALaterCallCostsMore() {
        Policy both =
                policy(2, Duration.ZERO, FailureMode.OPEN, Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1)));
        for (Policy policy : List.of(SLOW, both)) {
            RequestState request = new RequestState(ALICE);
            engine.decide(binding(1, policy), ALICE, request);
            engine.decide(binding("Search.dear", 5, policy), ALICE, request);
            engine.decide(binding("Search.dear", 5, policy), ALICE, request);
            assertThat(engine.ends().slots().held("slow")).isEqualTo(1);
            assertThat(backend.peek(List.of(new Charge(policy.limits(), "p.alice", 1))))
                    .last()
                    .extracting(Quota::remaining)
                    .isEqualTo(1L);
            engine.ends().release(request);
        }
        assertThat(backend.peek(List.of(new Charge(both.limits(), "p.alice", 1))))
                .extracting(Quota::remaining)
                .containsExactly(0L, 2L);
    }

    @Test
    void aCallWaitsUntilASlotIsReleased() {
        Policy waiting = policy(1, Duration.ofSeconds(2), FailureMode.OPEN);
        Receipt first = call(waiting).receipt();
        sleeper.meanwhile = () -> {
            if (sleeper.waits.size() == 4) {
                engine.ends().release(first);
            }
        };
        assertThat(call(waiting).allowed()).isTrue();
        assertThat(sleeper.waits).containsExactly(THIRD_MICROS, 50_000L, 50_000L, 50_000L);
    }

    @Test
    void aCallWithoutASlotIsRejectedAfterItsMaxWait() {
        Policy waiting = policy(1, Duration.ofMillis(120), FailureMode.OPEN);
        call(waiting);
        long start = time.micros();
        Decision rejected = call(waiting);
        assertThat(rejected).isInstanceOf(Decision.Rejected.class);
        assertThat(time.micros() - start).isEqualTo(120_000);
    }

    @Test
    void callsWithoutAThreadGetSlotsInTheirOrder() {
        Policy waiting = policy(1, Duration.ofSeconds(10), FailureMode.OPEN);
        Deque<Runnable> executor = new ArrayDeque<>();
        RateLimiter limiter =
                new EngineRateLimiter(engine, () -> Map.of("slow", waiting), () -> executor::add, Optional::empty);
        Identity alice = Identity.principal("alice");
        List<CompletableFuture<Decision>> calls = new ArrayList<>();
        for (int call = 0; call < 4; call++) {
            calls.add(limiter.acquireAsync("slow", alice).toCompletableFuture());
            runAll(executor);
        }
        for (int call = 0; call < 4; call++) {
            for (int later = call + 1; later < 4; later++) {
                assertThat(calls.get(later)).as("%d before %d", call, later).isNotDone();
            }
            assertThat(calls.get(call)).isCompleted();
            limiter.release(calls.get(call).join().receipt());
            runAll(executor);
        }
        assertThat(engine.ends().slots().held("slow")).isZero();
        assertThat(engine.ends().slots().queues().isWaitedFor(new Subject("slow", "p.alice")))
                .isFalse();
    }

    private static Policy oneSlot(String name, String key, Duration maxWait) {
        Limit limit = Limit.concurrency(1, TIMEOUT).withMaxWait(maxWait);
        return Policy.builder(new PolicyLimits(name, List.of(limit)), KeyExpression.parse(key, new KeyTerms(32, 64)))
                .maxWaiting(10)
                .build();
    }

    private CompletableFuture<Decision> waiting(Deque<Runnable> executor, String caller, Policy... policies) {
        CompletableFuture<Decision> call =
                engine.decideAsync(binding(1, policies), TestCall.byPrincipal(caller), null, executor::add);
        runAll(executor);
        return call;
    }

    @Test
    void aCallThatLacksAnotherSlotDoesNotHoldTheQueueOfAFreeOne() {
        Policy shared = oneSlot("shared", "global", Duration.ofSeconds(10));
        Policy own = oneSlot("own", "principal", Duration.ofSeconds(10));
        Deque<Runnable> executor = new ArrayDeque<>();
        Receipt ofShared = waiting(executor, "carol", shared).join().receipt();
        Receipt ofOwn = waiting(executor, "alice", own).join().receipt();
        CompletableFuture<Decision> alice = waiting(executor, "alice", shared, own);
        CompletableFuture<Decision> bob = waiting(executor, "bob", shared);
        assertThat(alice).isNotDone();
        assertThat(bob).isNotDone();

        engine.ends().release(ofShared);
        runAll(executor);
        assertThat(bob).as("without a step of the clock").isCompleted();
        assertThat(alice).isNotDone();

        engine.ends().release(ofOwn);
        runAll(executor);
        assertThat(alice).as("bob has the shared slot").isNotDone();
        engine.ends().release(bob.join().receipt());
        runAll(executor);
        assertThat(alice).isCompleted();
        assertThat(alice.join().allowed()).isTrue();
        assertThat(engine.ends().slots().queues().isWaitedFor(new Subject("own", "p.alice")))
                .isFalse();
    }

    @Test
    void aCallThatLacksPermitsDoesNotHoldTheQueueOfAFreeSlot() {
        Policy shared = oneSlot("shared", "global", Duration.ofSeconds(10));
        Policy paced = Policy.builder(
                        new PolicyLimits(
                                "paced",
                                List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(5))
                                        .withMaxWait(Duration.ofSeconds(10)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .maxWaiting(10)
                .build();
        Deque<Runnable> executor = new ArrayDeque<>();
        Receipt ofShared = waiting(executor, "carol", shared).join().receipt();
        CompletableFuture<Decision> alice = waiting(executor, "alice", shared, paced);
        waiting(executor, "alice", paced).join();
        CompletableFuture<Decision> bob = waiting(executor, "bob", shared);
        assertThat(alice).isNotDone();
        assertThat(bob).isNotDone();

        engine.ends().release(ofShared);
        runAll(executor);
        assertThat(bob).as("without a step of the clock").isCompleted();
        assertThat(alice).isNotDone();
    }

    @Test
    void aCallBehindOthersWaitsForTheMaxWaitOfTheirPolicyOnly() {
        Policy shared = oneSlot("shared", "global", Duration.ofSeconds(1));
        Policy own = oneSlot("own", "principal", Duration.ofSeconds(5));
        Deque<Runnable> executor = new ArrayDeque<>();
        waiting(executor, "carol", shared).join();
        CompletableFuture<Decision> head = waiting(executor, "bob", shared);
        long start = time.micros();
        Decision rejected = engine.decide(binding(1, shared, own), ALICE, null);
        assertThat(rejected).isInstanceOf(Decision.Rejected.class);
        assertThat(time.micros() - start).isEqualTo(1_000_000);
        assertThat(head).isNotDone();
    }

    @Test
    void aCanceledCallLeavesTheQueue() {
        Policy waiting = policy(1, Duration.ofSeconds(10), FailureMode.OPEN);
        Deque<Runnable> executor = new ArrayDeque<>();
        RateLimiter limiter =
                new EngineRateLimiter(engine, () -> Map.of("slow", waiting), () -> executor::add, Optional::empty);
        Identity alice = Identity.principal("alice");
        Receipt first = limiter.acquire("slow", alice).receipt();
        CompletableFuture<Decision> second = limiter.acquireAsync("slow", alice).toCompletableFuture();
        CompletableFuture<Decision> third = limiter.acquireAsync("slow", alice).toCompletableFuture();
        runAll(executor);
        second.cancel(false);
        runAll(executor);
        limiter.release(first);
        runAll(executor);
        assertThat(third).isCompleted();
        assertThat(third.join().allowed()).isTrue();
    }

    @Test
    void anInterruptedCallBehindOthersIsDecidedWithoutAWait() {
        Policy waiting = policy(1, Duration.ofSeconds(10), FailureMode.OPEN);
        Deque<Runnable> executor = new ArrayDeque<>();
        RateLimiter limiter =
                new EngineRateLimiter(engine, () -> Map.of("slow", waiting), () -> executor::add, Optional::empty);
        Identity alice = Identity.principal("alice");
        limiter.acquire("slow", alice);
        CompletableFuture<Decision> first = limiter.acquireAsync("slow", alice).toCompletableFuture();
        runAll(executor);
        Thread.currentThread().interrupt();
        Decision interrupted = limiter.acquire("slow", alice);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupted).isInstanceOf(Decision.Rejected.class);
        assertThat(first).isNotDone();
    }

    @Test
    void aSignalBetweenALookAndTheWaitEndsTheWait() {
        SlotQueues queues = new SlotQueues();
        Subject key = new Subject("slow", "p.alice");
        SlotQueues.Place first = queues.enter(key);
        SlotQueues.Place second = queues.enter(key);
        assertThat(queues.isFirst(second)).isFalse();
        queues.leave(first);
        assertThat(queues.signal(second)).isDone();
        assertThat(queues.isFirst(second)).isTrue();
        assertThat(queues.signal(second)).isNotDone();
        queues.released(key);
        assertThat(queues.signal(second)).isDone();
        queues.leave(second);
        assertThat(queues.isWaitedFor(key)).isFalse();
    }

    private static void runAll(Deque<Runnable> executor) {
        while (!executor.isEmpty()) {
            executor.remove().run();
        }
    }

    @Test
    void theShareOfAnInstanceLimitsCallsWhileTheBackendIsUnavailable() {
        Policy local = policy(6, Duration.ZERO, FailureMode.LOCAL);
        LocalBackend inProcess = new LocalBackend(100, time);
        RateLimitEngine degraded = degraded(3, inProcess);
        backend.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        Decision first = degraded.decide(binding(9, local), ALICE, null);
        assertThat(first).isInstanceOf(Decision.Degraded.class);
        assertThat(first.receipt().holdsSlots()).isTrue();
        assertThat(degraded.decide(binding(9, local), ALICE, null).allowed()).isTrue();
        assertThat(degraded.decide(binding(9, local), ALICE, null).allowed()).isFalse();

        backend.failure = null;
        assertThat(degraded.ends().slots().held("slow")).isEqualTo(2);
        degraded.ends().release(first.receipt());
        backend.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        assertThat(degraded.decide(binding(9, local), ALICE, null).allowed()).isTrue();
    }

    @Test
    void aCallThatIsAbandonedWithoutTheBackendReleasesItsSlotInProcess() {
        Policy local = policy(3, Duration.ZERO, FailureMode.LOCAL);
        RateLimitEngine degraded = degraded(3, new LocalBackend(100, time));
        Deque<Runnable> executor = new ArrayDeque<>();
        RateLimiter limiter =
                new EngineRateLimiter(degraded, () -> Map.of("slow", local), () -> executor::add, Optional::empty);
        CompletableFuture<Decision> undecided = new CompletableFuture<>();
        backend.stage = undecided;
        CompletableFuture<Decision> abandoned =
                limiter.acquireAsync("slow", Identity.principal("alice")).toCompletableFuture();
        abandoned.cancel(false);
        undecided.completeExceptionally(FakeBackend.down(BackendException.Reason.TIMEOUT));
        runAll(executor);
        assertThat(degraded.ends().slots().held("slow")).isZero();

        backend.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        Decision first = degraded.decide(binding(9, local), ALICE, null);
        assertThat(first.allowed()).isTrue();
        degraded.ends().abandon(first);
        assertThat(degraded.ends().slots().held("slow")).isZero();
        assertThat(degraded.decide(binding(9, local), ALICE, null).allowed()).isTrue();
    }

    @Test
    void callsThatAreAllowedWithoutTheBackendHaveNoSlot() {
        backend.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        Decision open = call(SLOW);
        assertThat(open.allowed()).isTrue();
        assertThat(open.receipt()).isEqualTo(Receipt.EMPTY);
        assertThat(engine.ends().slots().held("slow")).isZero();
    }

    @Test
    void anInstanceHasOneSlotAtLeast() {
        Charge share = new InstanceShare(10).of(new Charge(SLOW.limits(), "p.alice", 50));
        assertThat(share.policy().limits()).containsExactly(Limit.concurrency(1, TIMEOUT));
    }

    private RateLimitEngine degraded(int instances, RateLimitBackend inProcess) {
        return engine(
                new FallbackBackend(
                        backend,
                        new FailureModes(() -> instances, () -> inProcess),
                        health(backend),
                        Fixtures.DEADLINE),
                sleeper);
    }
}
