// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.Calls;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.ManualTime;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ShapingTest {
    private static final Calls ALICE = Calls.by("alice");
    private static final Policy PACED = shaped("paced", Algorithm.LEAKY_BUCKET, 10, 500, 2);
    private static final Policy WINDOW = shaped("window", Algorithm.FIXED_WINDOW, 1, 2_500, 2);

    private final ManualTime time = new ManualTime();
    private final ManualPause pause = new ManualPause(time);
    private final LocalBackend store = new LocalBackend(100, time);
    private final List<DecisionEvent> heard = new ArrayList<>();
    private final RateLimitEngine engine = new RateLimitEngine(
            store,
            Fixtures.NO_LOCAL,
            new IdentityEncoder(Optional.empty()),
            List.of(heard::add),
            new Outages("local", () -> 0, List.of()),
            pause,
            Overrides.NONE,
            HeavyKeys.NONE);
    private final Deque<Runnable> executor = new ArrayDeque<>();
    private final RateLimiter limiter = new EngineRateLimiter(
            engine, () -> Map.of("paced", PACED, "window", WINDOW), () -> executor::add, Optional::empty);

    private static Policy shaped(String name, Algorithm algorithm, long permits, long maxWaitMillis, int maxWaiting) {
        Limit limit = Limit.of(algorithm, permits, Duration.ofSeconds(1)).withMaxWait(Duration.ofMillis(maxWaitMillis));
        return new Policy(
                new PolicyLimits(name, List.of(limit)),
                KeyExpression.parse("principal", new KeyTerms(32, 64)),
                1,
                FailureMode.OPEN,
                maxWaiting);
    }

    private Decision call(Policy... policies) {
        return engine.decide(binding(1, policies), ALICE);
    }

    private long owedMicros() {
        return limiter.peek("paced", io.weir.ratelimit.Identity.principal("alice"))
                .get(0)
                .resetAfterMicros();
    }

    @Test
    void aCallWaitsForItsSlotAndThenGoesOn() {
        long start = time.micros();
        assertThat(call(PACED)).isInstanceOf(Decision.Allowed.class);
        Decision second = call(PACED);
        assertThat(((Decision.Allowed) second).waitMicros()).isEqualTo(100_000);
        assertThat(time.micros() - start).isEqualTo(100_000);
        assertThat(pause.held).containsExactly(100_000L);
        assertThat(heard).hasSize(2);
    }

    @Test
    void aCallThatWouldWaitTooLongIsRefusedAtOnce() {
        for (int call = 0; call < 6; call++) {
            store.acquire(List.of(new Charge(PACED.limits(), "p.alice", 1, PACED.maxWaitMicros())));
        }
        Decision refused = call(PACED);
        assertThat(((Decision.Rejected) refused).decisive().retryAfterMicros()).isEqualTo(100_000);
        assertThat(pause.held).isEmpty();
    }

    @Test
    void aWindowIsAskedAgainWhenThereIsRoomUntilItAdmits() {
        call(WINDOW);
        // Somebody else is faster, twice.
        int[] others = {2};
        pause.meanwhile = () -> {
            if (others[0]-- > 0) {
                store.acquire(List.of(new Charge(WINDOW.limits(), "p.alice", 1)));
            }
        };
        Policy patient = shaped("window", Algorithm.FIXED_WINDOW, 1, 3_000, 2);
        assertThat(call(patient)).isInstanceOf(Decision.Allowed.class);
        assertThat(pause.held).containsExactly(1_000_000L, 1_000_000L, 1_000_000L);
        assertThat(heard).as("a call is one decision, however often it asks").hasSize(2);
    }

    @Test
    void askingAWindowAgainEndsWithTheCallsPatience() {
        call(WINDOW);
        pause.meanwhile = () -> store.acquire(List.of(new Charge(WINDOW.limits(), "p.alice", 1)));
        Decision refused = call(WINDOW);
        assertThat(((Decision.Rejected) refused).decisive().retryAfterMicros()).isEqualTo(1_000_000);
        assertThat(pause.held).containsExactly(1_000_000L, 1_000_000L);
    }

    @Test
    void eachPolicyHasItsOwnPatience() {
        Policy impatient = shaped("impatient", Algorithm.FIXED_WINDOW, 1, 0, 2);
        assertThat(call(PACED, impatient).allowed()).isTrue();
        assertThat(call(PACED, impatient).allowed())
                .as("the one without a max-wait refuses at once")
                .isFalse();
        assertThat(pause.held).isEmpty();
        time.advanceMicros(1_000_000);
        call(PACED);
        assertThat(call(PACED, impatient).allowed()).isTrue();
        assertThat(pause.held).containsExactly(100_000L);
    }

    @Test
    void asManyAsMaxWaitingWaitAndTheNextIsRefusedAtOnce() throws Exception {
        pause.gate = new CountDownLatch(1);
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            call(PACED);
            List<Future<Decision>> waiting = List.of(pool.submit(() -> call(PACED)), pool.submit(() -> call(PACED)));
            awaitWaits(2);
            Decision refused = call(PACED);
            assertThat(((Decision.Rejected) refused).decisive().retryAfterMicros())
                    .isEqualTo(300_000);
            assertThat(owedMicros()).as("the refused call holds no slot").isEqualTo(300_000);
            pause.gate.countDown();
            for (Future<Decision> each : waiting) {
                assertThat(each.get(10, TimeUnit.SECONDS).allowed()).isTrue();
            }
            assertThat(call(PACED).allowed()).as("their places are free again").isTrue();
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void whoFindsNoPlaceOnceItHasASlotGivesTheSlotBack() {
        Policy single = shaped("paced", Algorithm.LEAKY_BUCKET, 10, 500, 1);
        call(single);
        boolean[] nested = {true};
        RateLimitEngine[] crowded = new RateLimitEngine[1];
        // Another call asks and waits between this one's look for a place and its answer.
        FakeBackend between = new FakeBackend() {
            @Override
            public Decision acquire(List<Charge> charges) {
                Decision decision = store.acquire(charges);
                if (nested[0]) {
                    nested[0] = false;
                    assertThat(crowded[0].decideAsync(binding(1, single), Identity.principal("bob"), executor::add))
                            .isNotDone();
                }
                return decision;
            }

            @Override
            public void giveBack(Receipt receipt) {
                store.giveBack(receipt);
            }
        };
        crowded[0] = new RateLimitEngine(
                between,
                Fixtures.NO_LOCAL,
                new IdentityEncoder(Optional.empty()),
                List.of(),
                new Outages("fake", () -> 0, List.of()),
                pause,
                Overrides.NONE,
                HeavyKeys.NONE);
        store.acquire(List.of(new Charge(single.limits(), "p.bob", 1)));
        Decision decision = crowded[0].decide(binding(1, single), ALICE);
        assertThat(decision).isInstanceOf(Decision.Rejected.class);
        assertThat(owedMicros()).isEqualTo(100_000);
        assertThat(pause.held).as("only the other one waits").containsExactly(100_000L);
    }

    @Test
    void nothingOfARequestIsLockedWhileItsCallWaits() throws Exception {
        RequestRecord request = new RequestRecord(ALICE);
        Binding other = binding(1, shaped("other", Algorithm.FIXED_WINDOW, 1, 0, 1));
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            for (Policy policy : List.of(PACED, WINDOW)) {
                call(policy);
                pause.gate = new CountDownLatch(1);
                int before = pause.waits();
                Future<Decision> waiting = pool.submit(() -> engine.decide(binding(1, policy), ALICE, request));
                awaitWaits(before + 1);
                assertThat(pool.submit(() ->
                                        engine.decide(other, ALICE, request).allowed())
                                .get(10, TimeUnit.SECONDS))
                        .isTrue();
                time.advanceMicros(1_000_000);
                pause.gate.countDown();
                assertThat(waiting.get(10, TimeUnit.SECONDS).allowed()).isTrue();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void aRequestIsChargedOnceAlsoWhileItWaits() throws Exception {
        RequestRecord request = new RequestRecord(ALICE);
        call(PACED);
        pause.meanwhile = () -> engine.decide(binding(1, PACED), ALICE, request);
        assertThat(engine.decide(binding(1, PACED), ALICE, request).allowed()).isTrue();
        assertThat(request.receipts()).hasSize(1);
        assertThat(owedMicros()).isEqualTo(100_000);
    }

    @Test
    void aRefusalThatIsAskedAgainIsNoDecisionOfTheRequest() {
        RequestRecord request = new RequestRecord(ALICE);
        call(WINDOW);
        pause.meanwhile = () -> assertThat(request.last()).isEmpty();
        assertThat(engine.decide(binding(1, WINDOW), ALICE, request).allowed()).isTrue();
        assertThat(pause.held).hasSize(1);
        assertThat(request.last()).containsInstanceOf(Decision.Allowed.class);
    }

    @Test
    void anInterruptedCallGivesItsSlotBackAndIsRefused() {
        RequestRecord request = new RequestRecord(ALICE);
        call(PACED);
        Thread.currentThread().interrupt();
        Decision alone = call(PACED);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(alone).isInstanceOf(Decision.Rejected.class);
        Thread.currentThread().interrupt();
        Decision inRequest = engine.decide(binding(1, PACED), ALICE, request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(inRequest).isInstanceOf(Decision.Rejected.class);
        assertThat(request.receipts()).isEmpty();
        assertThat(request.last()).contains(inRequest);
        assertThat(owedMicros()).isEqualTo(100_000);
        assertThat(engine.decide(binding(1, PACED), ALICE, request).allowed())
                .as("what was given back is due again")
                .isTrue();
        assertThat(request.receipts()).hasSize(1);
    }

    @Test
    void anInterruptedCallUnderAWindowIsRefused() {
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
        assertThat(pause.held).containsExactly(100_000L);
        pause.timers.get(0).complete(null);
        assertThat(decision).as("not on the thread of the timer").isNotDone();
        runAll();
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
        assertThat(heard).hasSize(2);
    }

    @Test
    void asynchronousCallsAreBoundToo() {
        limiter.acquire("paced", "a");
        List<CompletableFuture<Decision>> calls = List.of(async("paced"), async("paced"), async("paced"));
        runAll();
        assertThat(calls.get(2)).isCompletedWithValueMatching(refused -> refused instanceof Decision.Rejected);
        assertThat(calls.get(1)).isNotDone();
        assertThat(pause.held).containsExactly(100_000L, 200_000L);
    }

    @Test
    void anAsynchronousCallAsksAWindowAgain() {
        limiter.acquire("window", "a");
        CompletableFuture<Decision> decision = async("window");
        time.advanceMicros(1_000_000);
        limiter.acquire("window", "a");
        pause.timers.get(0).complete(null);
        runAll();
        assertThat(pause.held).containsExactly(1_000_000L, 1_000_000L);
        time.advanceMicros(1_000_000);
        pause.timers.get(1).complete(null);
        runAll();
        assertThat(decision).isCompletedWithValueMatching(Decision::allowed);
    }

    @Test
    void aCancelledCallGivesItsSlotAndItsPlaceBack() {
        limiter.acquire("paced", "a");
        for (int call = 0; call < 5; call++) {
            CompletableFuture<Decision> decision = async("paced");
            decision.cancel(true);
            runAll();
            assertThat(pause.timers.get(call)).isCancelled();
        }
        assertThat(limiter.peek("paced", "a").get(0).resetAfterMicros()).isEqualTo(100_000);
        assertThat(heard).as("nobody was decided about").hasSize(1);
    }

    @Test
    void anAsynchronousCallWhoseTimerFailsEndsWithThatAndHoldsNoPlace() {
        Error failure = new OutOfMemoryError("unable to create a thread");
        Pause failing = new Pause() {
            @Override
            public long nanos() {
                return pause.nanos();
            }

            @Override
            public void hold(long micros) {
                throw failure;
            }

            @Override
            public CompletableFuture<Void> after(long micros) {
                throw failure;
            }
        };
        RateLimitEngine broken = new RateLimitEngine(
                store,
                Fixtures.NO_LOCAL,
                new IdentityEncoder(Optional.empty()),
                List.of(),
                new Outages("local", () -> 0, List.of()),
                failing,
                Overrides.NONE,
                HeavyKeys.NONE);
        store.acquire(List.of(new Charge(PACED.limits(), "p.alice", 1)));
        for (int call = 0; call < 5; call++) {
            CompletableFuture<Decision> decision =
                    broken.decideAsync(binding(1, PACED), Identity.principal("alice"), executor::add);
            runAll();
            assertThat(decision).isCompletedExceptionally();
            assertThat(decision.handle((told, thrown) -> thrown)).isCompletedWithValue(failure);
        }
    }

    private void awaitWaits(int count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (pause.waits() < count && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(pause.waits()).isEqualTo(count);
    }

    @Test
    void aFullPolicyInShadowModeHasNoPartInHowLongACallWaits() {
        Charge shadow = new Charge(PACED.limits(), "p.alice", 10).asShadow();
        Charge window = new Charge(WINDOW.limits(), "p.alice", 1, 2_500_000);
        store.acquire(List.of(shadow, window));
        Decision refused = store.acquire(List.of(shadow, window));
        assertThat(refused).isInstanceOf(Decision.Rejected.class);
        assertThat(Shaping.waitOf(new DecidingStore.Told(List.of(shadow, window), refused, 0, 0, null)))
                .isEqualTo(1_000_000);
        assertThat(Shaping.impatient(List.of(shadow, window)))
                .containsExactly(shadow, new Charge(WINDOW.limits(), "p.alice", 1));
    }
}
