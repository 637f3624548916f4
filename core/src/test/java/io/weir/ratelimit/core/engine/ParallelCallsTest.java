// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls of one request on several threads. */
class ParallelCallsTest {
    private static final Policy A = policy("a", "principal");
    private static final Policy B = policy("b", "principal");
    private static final Policy CLOSED = policy("closed", "principal", 1, FailureMode.CLOSED);
    private static final TestCall ALICE = TestCall.byPrincipal("alice");

    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final RequestState request = new RequestState(ALICE);
    private final CountDownLatch called = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private final List<String> acquired = new CopyOnWriteArrayList<>();

    /** A backend that answers calls under the policies {@code a} and {@code closed} only after the test opens a latch. */
    private final FakeBackend slow = new FakeBackend() {
        @Override
        public Decision acquire(List<Charge> charges) {
            acquired.add(charges.get(0).policy().policy() + " " + charges.get(0).cost());
            if (!charges.get(0).policy().policy().equals("b")) {
                called.countDown();
                try {
                    answer.await(10, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return new Decision.Allowed(List.of(), new io.weir.ratelimit.Receipt() {});
        }
    };

    @AfterEach
    void endThreads() {
        answer.countDown();
        pool.shutdownNow();
    }

    private Future<Decision> startSlowCall(RateLimitEngine engine, Policy policy) throws InterruptedException {
        Future<Decision> first = pool.submit(() -> engine.decide(binding(3, policy), ALICE, request));
        assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
        return first;
    }

    @Test
    void oneOfTwoEqualCallsOfDifferentMethodsIsCharged() throws Exception {
        RateLimitEngine engine = engine(slow);
        Future<Decision> first = startSlowCall(engine, A);
        CompletableFuture<Decision> second = new CompletableFuture<>();
        Thread thread = new Thread(() -> second.complete(engine.decide(binding("Search.other", 3, A), ALICE, request)));
        thread.start();
        Await.until("the second call waits for the first", Duration.ofSeconds(10), () -> {
            assertThat(acquired)
                    .as("the second call does not reach the backend")
                    .hasSize(1);
            return thread.getState() == Thread.State.TIMED_WAITING;
        });
        answer.countDown();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(Decision.Allowed.UNLIMITED);
        assertThat(acquired).containsExactly("a 3");
    }

    @Test
    void aSecondCallWithAHigherCostPaysTheDifference() throws Exception {
        RateLimitEngine engine = engine(slow);
        Future<Decision> first = startSlowCall(engine, A);
        Future<Decision> second = pool.submit(() -> engine.decide(binding("Search.other", 10, A), ALICE, request));
        answer.countDown();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(acquired).containsExactly("a 3", "a 7");
    }

    @Test
    void aCallUnderAnotherPolicyDoesNotWait() throws Exception {
        RateLimitEngine engine = engine(slow);
        Future<Decision> first = startSlowCall(engine, A);
        assertThat(engine.decide(binding(1, B), ALICE, request).allowed()).isTrue();
        assertThat(request.quotas().last()).isPresent();
        assertThat(first).isNotDone();
    }

    @Test
    void aCallWaitsNoLongerThanTheDeadline() throws Exception {
        RateLimitEngine engine = engine(
                new FallbackBackend(slow, Fixtures.NO_LOCAL, Fixtures.health(slow), Duration.ofMillis(1)),
                Sleeper.REAL);
        Future<Decision> first = startSlowCall(engine, CLOSED);
        Binding other = binding("Search.other", 3, CLOSED);
        assertThat(engine.decide(other, ALICE, request))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "timeout"));
        assertThat(acquired).hasSize(1);
        answer.countDown();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(engine.decide(other, ALICE, request)).isEqualTo(Decision.Allowed.UNLIMITED);
    }

    @Test
    void manyMethodsTogetherPayTheHighestTotal() throws Exception {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("parallel calls: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            LocalBackend backend = new LocalBackend(10);
            RateLimitEngine engine = engine(backend);
            RequestState shared = new RequestState(ALICE);
            CountDownLatch start = new CountDownLatch(1);
            List<Future<Decision>> decisions = new ArrayList<>();
            Map<String, Long> totals = new HashMap<>();
            for (int call = 0; call < 6; call++) {
                long cost = 1L + random.nextInt(15);
                String method = "Search." + random.nextInt(3);
                totals.merge(method, cost, Long::sum);
                Binding binding = random.nextBoolean() ? binding(method, cost, A) : binding(method, cost, A, B);
                decisions.add(pool.submit(() -> {
                    start.await();
                    return engine.decide(binding, ALICE, shared);
                }));
            }
            start.countDown();
            for (Future<Decision> decision : decisions) {
                assertThat(decision.get(10, TimeUnit.SECONDS).allowed()).isTrue();
            }
            assertThat(backend.peek(List.of(new Charge(A.limits(), "p.alice", 1)))
                            .get(0)
                            .remaining())
                    .as("round %d of -Dweir.test.seed=%d", round, seed)
                    .isEqualTo(100 - Collections.max(totals.values()));
        }
    }
}
