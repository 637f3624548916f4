// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls end at their deadline in every state of Redis, and then release their memory. */
@Tag("redis")
class TimeoutQueueTest {
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration IN_TIME = DEADLINE.plus(FaultCalls.MARGIN).plus(FaultCalls.MARGIN);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofHours(1));

    private final AcquireRequests requests = AcquireRequests.in("test");
    private final ManualTimer timer = new ManualTimer();
    private long nanos;
    private final TimeoutQueue timeouts = new TimeoutQueue(DEADLINE, () -> nanos, timer);

    @Test
    void callsEndAtTheirDeadlineOnAStoppedRedisAndOnlySentOnesAreSpent() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect();
                TestBackend clients = TestBackend.on(process.address()).ready();
                RedisClient client = new RedisClient(clients::client, false, "deadlines", DEADLINE);
                RedisStore store = new RedisStore(
                        client,
                        RedisKeys.of("deadlines"),
                        DEADLINE,
                        ScriptSender.REDIS_CLOCK,
                        new RejectionCache(RedisKeys.of("deadlines")),
                        (requests, waitingKeys) -> sent.addAndGet(requests),
                        Breaker.disabled(),
                        Timer.PLATFORM)) {
            assertThat(store.acquire(charge("warm")).allowed()).isTrue();
            sent.set(0);
            process.pause();
            Stopwatch beforeAsync = Stopwatch.startedForTimer();
            List<CompletableFuture<Decision>> async = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                async.add(store.acquireAsync(charge("async." + i)));
            }
            Duration toStart = beforeAsync.elapsed();
            // These calls wait in the queue until the first two batches time out, and are sent in their place.
            Await.until(
                    "half a deadline has passed",
                    LONG,
                    () -> System.nanoTime() - beforeAsync.startNanos()
                            > DEADLINE.dividedBy(2).toNanos());
            List<CompletableFuture<Duration>> blocking = IntStream.range(0, 32)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> timedOutAfter(store, charge("sync." + i)), task -> new Thread(task).start()))
                    .toList();
            for (CompletableFuture<Decision> each : async) {
                assertThat(reason(each)).isEqualTo(Reason.TIMEOUT);
            }
            assertThat(beforeAsync.elapsed()).isLessThan(IN_TIME.plus(toStart));
            for (CompletableFuture<Duration> each : blocking) {
                assertThat(each.get(LONG.toSeconds(), TimeUnit.SECONDS)).isLessThan(IN_TIME);
            }
            // After one more deadline all requests that can be sent are sent.
            timedOutAfter(store, charge("last"));
            int sentRequests = sent.get();
            int allRequests = async.size() + blocking.size() + 1;
            process.resume();
            Await.until("Redis decides again", LONG, () -> decides(store));
            assertThat(sentRequests).as("sent requests").isBetween(4, allRequests);
            long spent = redis.keys("weir:2:{deadlines:k.*sync.*").size();
            System.out.printf("%d of %d requests were sent, %d were spent%n", sentRequests, allRequests, spent);
            assertThat(spent).as("spent requests").isLessThanOrEqualTo(sentRequests);
        }
    }

    /** A call that records its cancellation. */
    private static class Call implements PendingCall<AcquireResult> {
        private final AcquireRequest request;
        private final List<AcquireRequest> cancelled;

        Call(AcquireRequest request, List<AcquireRequest> cancelled) {
            this.request = request;
            this.cancelled = cancelled;
        }

        @Override
        public CompletableFuture<AcquireResult> completion() {
            return request;
        }

        @Override
        public AcquireResult result() {
            return request.join();
        }

        @Override
        public long deadlineNanos() {
            return request.deadlineNanos;
        }

        @Override
        public void cancel(BackendException reason) {
            cancelled.add(request);
            request.completeExceptionally(reason);
        }
    }

    private AcquireRequest request(String storedKey, Duration deadline) {
        return requests.create(charge(storedKey), Operation.SPEND, nanos + deadline.toNanos());
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        timer.run();
    }

    @Test
    void cancelsCallsInTheOrderOfTheirDeadlinesAndLeavesCompletedOnesAlone() {
        List<AcquireRequest> cancelled = new ArrayList<>();
        List<AcquireRequest> all = new ArrayList<>();
        List<AcquireRequest> pending = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            AcquireRequest request = request("a", DEADLINE.plusNanos(i));
            timeouts.watch(new Call(request, cancelled));
            all.add(request);
        }
        for (int i = 0; i < all.size(); i++) {
            if (i % 3 == 0) {
                pending.add(all.get(i));
            } else {
                all.get(i).complete(null);
            }
        }
        pass(DEADLINE.minusNanos(1));
        assertThat(cancelled).isEmpty();
        pass(Duration.ofNanos(500));
        assertThat(cancelled).containsExactlyElementsOf(pending.subList(0, 167));
        pass(Duration.ofNanos(500));
        assertThat(cancelled).containsExactlyElementsOf(pending);
        assertThat(timer.waiting()).isZero();
    }

    @Test
    void cancelsTheCallsBehindOneThatFailsToBeCancelled() {
        List<AcquireRequest> cancelled = new ArrayList<>();
        timeouts.watch(new Call(request("a", DEADLINE), cancelled) {
            @Override
            public void cancel(BackendException reason) {
                throw new StackOverflowError();
            }
        });
        AcquireRequest second = request("b", DEADLINE);
        timeouts.watch(new Call(second, cancelled));
        assertThatThrownBy(() -> pass(DEADLINE)).isInstanceOf(StackOverflowError.class);
        pass(Duration.ZERO);
        assertThat(cancelled).containsExactly(second);
    }

    @Test
    void cancelsCallsThatAreWatchedAfterAPause() {
        List<AcquireRequest> cancelled = new ArrayList<>();
        for (int round = 1; round <= 5; round++) {
            timeouts.watch(new Call(request("a", DEADLINE), cancelled));
            pass(DEADLINE);
            assertThat(cancelled).hasSize(round);
            pass(DEADLINE);
        }
    }

    @Test
    void thePlatformCancelsACallAtItsDeadline() {
        List<AcquireRequest> cancelled = Collections.synchronizedList(new ArrayList<>());
        Duration deadline = Duration.ofMillis(20);
        AcquireRequest request = requests.create(charge("a"), Operation.SPEND, System.nanoTime() + deadline.toNanos());
        new TimeoutQueue(deadline).watch(new Call(request, cancelled));
        Await.until("it is cancelled", LONG, () -> cancelled.size() == 1);
        assertThat(System.nanoTime() - request.deadlineNanos).isNotNegative();
    }

    @Test
    void releasesCompletedCallsLongBeforeTheirDeadline() {
        List<WeakReference<AcquireRequest>> completed = completed(timeouts, 10_000);
        timeouts.watch(new Call(requests.spend(charge("next")), new ArrayList<>()));
        assertReleased(completed, 0);
    }

    @Test
    void aPendingCallDoesNotKeepCompletedCallsBehindIt() {
        AcquireRequest stuck = requests.spend(charge("stuck"));
        timeouts.watch(new Call(stuck, new ArrayList<>()));
        List<WeakReference<AcquireRequest>> completed = completed(timeouts, 10_000);
        assertReleased(completed, 2_100);
        assertThat(stuck).isNotDone();
    }

    private List<WeakReference<AcquireRequest>> completed(TimeoutQueue timeouts, int count) {
        List<WeakReference<AcquireRequest>> completed = new ArrayList<>();
        List<AcquireRequest> some = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            AcquireRequest request = requests.spend(charge("k." + i));
            timeouts.watch(new Call(request, new ArrayList<>()));
            completed.add(new WeakReference<>(request));
            some.add(request);
            if (some.size() == 256) {
                some.forEach(each -> each.complete(null));
                some.clear();
            }
        }
        some.forEach(each -> each.complete(null));
        return completed;
    }

    private static void assertReleased(List<WeakReference<AcquireRequest>> completed, long most) {
        Await.until("at most " + most + " of the completed are kept", LONG, () -> {
            System.gc();
            return completed.stream().filter(each -> each.get() != null).count() <= most;
        });
    }

    private static List<Charge> charge(String storedKey) {
        return List.of(TestBackend.charge("k." + storedKey, 1, LIMIT));
    }

    private static Duration timedOutAfter(RedisStore store, List<Charge> charges) {
        Stopwatch watch = Stopwatch.started();
        try {
            throw new AssertionError("decided " + store.acquire(charges));
        } catch (BackendException e) {
            assertThat(e.reason()).isEqualTo(Reason.TIMEOUT);
            assertThat(System.nanoTime() - watch.startNanos()).isGreaterThanOrEqualTo(DEADLINE.toNanos());
            return watch.elapsed();
        }
    }

    private static Reason reason(CompletableFuture<Decision> decision) throws Exception {
        Throwable failure = decision.handle((decided, thrown) -> thrown).get(LONG.toSeconds(), TimeUnit.SECONDS);
        assertThat(failure).isNotNull();
        return RedisFailures.toBackendException(failure).reason();
    }

    private static boolean decides(RedisStore store) {
        try {
            return store.acquire(charge("recovered")).allowed();
        } catch (BackendException e) {
            return false;
        }
    }
}
