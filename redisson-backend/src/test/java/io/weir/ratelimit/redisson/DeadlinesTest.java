// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
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
import org.junit.jupiter.api.Test;

/** Checks end at their deadline, whatever Redis does, and leave nothing behind. */
class DeadlinesTest {
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration IN_TIME = DEADLINE.plus(FaultCalls.MARGIN).plus(FaultCalls.MARGIN);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofHours(1));

    private final Checks checks = Checks.in("test");

    @Test
    void onAStoppedRedisEachCheckEndsInTimeAndOnlyThoseThatLeftAreSpent() throws Exception {
        AtomicInteger left = new AtomicInteger();
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect();
                TestStore clients = TestStore.on(process.address()).ready();
                RedisClient client = new RedisClient(clients::client, false, "deadlines", DEADLINE);
                RedisStore store = new RedisStore(
                        client,
                        "deadlines",
                        DEADLINE,
                        RedisStore.REDIS_CLOCK,
                        (aboard, keysWaiting) -> left.addAndGet(aboard),
                        Breaker.never())) {
            assertThat(store.acquire(charge("warm")).allowed()).isTrue();
            left.set(0);
            process.pause();
            Stopwatch.started();
            long paused = System.nanoTime();
            List<CompletableFuture<Decision>> asked = new ArrayList<>();
            List<LoadedStore.Call> ended = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 5_000; i++) {
                long start = System.nanoTime();
                asked.add(store.acquireAsync(charge("async." + i))
                        .whenComplete((decision, failure) ->
                                ended.add(new LoadedStore.Call(start, System.nanoTime(), failure == null))));
            }
            // Whoever asks in the middle still waits when the first two flights are given up, and leaves in their
            // place.
            Await.until(
                    "half a deadline has passed",
                    DEADLINE,
                    () -> System.nanoTime() - paused > DEADLINE.dividedBy(2).toNanos());
            List<CompletableFuture<Duration>> waiting = IntStream.range(0, 32)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> timedOutAfter(store, charge("sync." + i)), task -> new Thread(task).start()))
                    .toList();
            for (CompletableFuture<Duration> each : waiting) {
                assertThat(each.get(20, TimeUnit.SECONDS)).isLessThan(IN_TIME);
            }
            for (CompletableFuture<Decision> each : asked) {
                assertThat(reason(each)).isEqualTo(Reason.TIMEOUT);
            }
            assertThat(ended)
                    .hasSize(asked.size())
                    .allSatisfy(call -> assertThat(Stopwatch.between(call.startNanos(), call.endNanos()))
                            .isLessThan(IN_TIME));
            // One more deadline, so that whatever was about to leave has left.
            timedOutAfter(store, charge("last"));
            int sent = left.get();
            process.resume();
            Await.until("the store decides again", Duration.ofSeconds(20), () -> decides(store));
            assertThat(sent).as("checks that left").isBetween(4, asked.size() + waiting.size());
            long spent = redis.keys("weir:1:{deadlines:k.*sync.*").size();
            System.out.printf("%d of %d checks left, %d were spent%n", sent, asked.size() + waiting.size(), spent);
            assertThat(spent).as("checks that were spent").isLessThanOrEqualTo(sent);
        }
    }

    @Test
    void theLateAreEndedInTheOrderOfTheirDeadlinesAndTheAnsweredAreLeftAlone() {
        List<Check> late = Collections.synchronizedList(new ArrayList<>());
        Deadlines deadlines = new Deadlines(DEADLINE, check -> {
            late.add(check);
            check.completeExceptionally(new BackendException(Reason.TIMEOUT, "late", null));
        });
        List<Check> all = IntStream.range(0, 1_000)
                .mapToObj(i -> checks.of(charge("a"), true, System.nanoTime() + DEADLINE.toNanos()))
                .toList();
        all.forEach(deadlines::watch);
        List<Check> unanswered = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (i % 3 == 0) {
                unanswered.add(all.get(i));
            } else {
                all.get(i).complete(null);
            }
        }
        CompletableFuture.allOf(unanswered.stream()
                        .map(check -> check.handle((answer, failure) -> answer))
                        .toArray(CompletableFuture[]::new))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        Await.until("all have been noted", Duration.ofSeconds(5), () -> late.size() == unanswered.size());
        assertThat(late).containsExactlyElementsOf(unanswered);
        assertThat(unanswered)
                .allSatisfy(check ->
                        assertThat(System.nanoTime() - check.deadlineNanos).isPositive());
    }

    @Test
    void checksWatchedAfterAQuietWhileEndAsWell() {
        List<Check> late = Collections.synchronizedList(new ArrayList<>());
        Deadlines deadlines = new Deadlines(Duration.ofMillis(20), late::add);
        for (int round = 1; round <= 5; round++) {
            deadlines.watch(checks.of(
                    charge("a"), true, System.nanoTime() + Duration.ofMillis(20).toNanos()));
            int expected = round;
            Await.until("it ends", Duration.ofSeconds(5), () -> late.size() == expected);
        }
    }

    @Test
    void whatIsAnsweredIsForgottenLongBeforeItsDeadline() {
        Deadlines deadlines = new Deadlines(LONG, check -> {});
        List<WeakReference<Check>> answered = answered(deadlines, 10_000);
        deadlines.watch(checks.of(charge("next"), true));
        assertForgotten(answered, 0);
    }

    @Test
    void oneThatIsStuckDoesNotKeepThoseThatAreAnsweredBehindIt() {
        Deadlines deadlines = new Deadlines(LONG, check -> {});
        Check stuck = checks.of(charge("stuck"), true);
        deadlines.watch(stuck);
        List<WeakReference<Check>> answered = answered(deadlines, 10_000);
        assertForgotten(answered, 2_100);
        assertThat(stuck).isNotDone();
    }

    private List<WeakReference<Check>> answered(Deadlines deadlines, int count) {
        List<WeakReference<Check>> answered = new ArrayList<>();
        List<Check> some = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Check check = checks.of(charge("k." + i), true);
            deadlines.watch(check);
            answered.add(new WeakReference<>(check));
            some.add(check);
            if (some.size() == 256) {
                some.forEach(each -> each.complete(null));
                some.clear();
            }
        }
        some.forEach(each -> each.complete(null));
        return answered;
    }

    private static void assertForgotten(List<WeakReference<Check>> answered, long most) {
        Await.until("at most " + most + " of the answered are kept", Duration.ofSeconds(10), () -> {
            System.gc();
            return answered.stream().filter(each -> each.get() != null).count() <= most;
        });
    }

    private static List<Charge> charge(String identity) {
        return List.of(TestStore.charge("k." + identity, 1, LIMIT));
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
        Throwable failure = decision.handle((decided, thrown) -> thrown).get(20, TimeUnit.SECONDS);
        assertThat(failure).isNotNull();
        return RedisClient.failure(failure).reason();
    }

    private static boolean decides(RedisStore store) {
        try {
            return store.acquire(charge("recovered")).allowed();
        } catch (BackendException e) {
            return false;
        }
    }
}
