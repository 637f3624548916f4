// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.BatchQueue;
import io.weir.ratelimit.redisson.script.BatchTest;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;

/** The instants and the batches in which requests are sent, and the requests that are never sent. */
class BatcherTest {
    private static final int MAX_IN_FLIGHT = 2;
    private static final int MAX_WAITING_KEYS = 8_192;
    private static final int MAX_KEYS = 256;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 100_000, Duration.ofHours(1));

    /** Limits of one key that fill more than half of a batch. */
    private static final Limit[] MANY = IntStream.rangeClosed(1, 200)
            .mapToObj(hours -> Limit.of(Algorithm.FIXED_WINDOW, 100_000, Duration.ofHours(hours)))
            .toArray(Limit[]::new);

    private final AcquireRequests requests = AcquireRequests.in("test");
    private final List<Batch> sent = new ArrayList<>();
    private final List<CompletableFuture<byte[]>> replies = new ArrayList<>();
    private final List<Integer> notified = new ArrayList<>();
    private final List<Long> replyTimes = new ArrayList<>();

    /** By default each question takes longer than a near Redis does, so that two batches may be in flight. */
    private final AtomicLong clock = new AtomicLong(System.nanoTime());

    private long nanosPerQuestion = 200_000;

    private final Batcher batcher = batcher(
            this::send,
            new BackendListener() {
                @Override
                public void onBatch(int requests, int waitingKeys) {
                    notified.addAll(List.of(requests, waitingKeys));
                }

                @Override
                public void onReply(long nanos) {
                    replyTimes.add(nanos);
                }
            },
            Breaker.disabled());

    private Batcher batcher(Batcher.Sender sender, BackendListener listener, Breaker breaker) {
        return new Batcher(sender, listener, breaker, slots -> {}, () -> clock.addAndGet(nanosPerQuestion));
    }

    private CompletableFuture<byte[]> send(Batch batch) {
        sent.add(batch);
        CompletableFuture<byte[]> reply = new CompletableFuture<>();
        replies.add(reply);
        return reply;
    }

    @Test
    void sendsASingleRequestAtOnce() {
        AcquireRequest request = enqueued("k.a");
        assertThat(sent).containsExactly(request.batch);
        assertThat(request).isNotDone();
        reply(0);
        assertThat(request.join().spent()).isTrue();
        enqueued("k.a");
        assertThat(sent).hasSize(2);
        assertThat(notified).containsExactly(1, 0, 1, 0);
    }

    @Test
    void sendsRequestsThatWaitTogetherInOrder() {
        sendMaxInFlight();
        List<AcquireRequest> waiting = enqueued("k.", 10);
        assertThat(sent).hasSize(MAX_IN_FLIGHT);
        reply(1);
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 1);
        assertThat(waiting).allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(MAX_IN_FLIGHT)));
        assertThat(sent.get(MAX_IN_FLIGHT).keys())
                .isEqualTo(waiting.stream().map(request -> request.keys.get(0)).toList());
        assertThat(notified.subList(2 * MAX_IN_FLIGHT, notified.size())).containsExactly(10, 0);
        reply(MAX_IN_FLIGHT);
        assertThat(waiting)
                .allSatisfy(request -> assertThat(request.join().spent()).isTrue());
    }

    @Test
    void oneBatchIsInFlightToANearRedis() {
        sendToNear();
        enqueued("k.first");
        List<AcquireRequest> waiting = enqueued("k.", 10);
        assertThat(sent).hasSize(2);
        reply(1);
        assertThat(waiting).allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(2)));
        AcquireRequest next = enqueued("k.next");
        assertThat(next.batch).isNull();
        reply(2);
        assertThat(next.batch).isSameAs(sent.get(3));
    }

    @Test
    void twoBatchesAreInFlightOnceRedisIsFar() {
        sendToNear();
        nanosPerQuestion = 200_000;
        for (int i = 1; i < 512; i++) {
            enqueued("k." + i);
            reply(i);
        }
        sent.clear();
        enqueued("late.", 3);
        assertThat(sent).hasSize(MAX_IN_FLIGHT);
    }

    @Test
    void aReplyThatMayNeverArriveMakesWayBeforeTheDeadline() {
        sendToNear();
        enqueued("k.lost");
        AcquireRequest waiting = enqueued("k.waiting");
        clock.addAndGet(4_999_999);
        assertThat(enqueued("k.still").batch).isNull();
        clock.addAndGet(1);
        AcquireRequest last = enqueued("k.last");
        assertThat(sent).hasSize(3);
        assertThat(List.of(waiting, last))
                .allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(2)));
        clock.addAndGet(5_000_000);
        AcquireRequest third = enqueued("k.third");
        assertThat(third.batch).as("only two").isNull();
        reply(2);
        assertThat(third.batch).as("beside the first one").isSameAs(sent.get(3));
    }

    @Test
    void aLateReplyMakesWayAlthoughTooManyKeysWait() {
        sendToNear();
        enqueued("k.lost");
        enqueued("k.", MAX_WAITING_KEYS);
        BatchTest.assertFailed(enqueued("k.beyond"), Reason.FULL);
        clock.addAndGet(5_000_000);
        assertThat(enqueued("k.late")).isNotDone();
        assertThat(sent.get(2).size()).isEqualTo(MAX_KEYS);
    }

    @Test
    void underLoadAFewBatchesAreSmall() {
        sendToNear();
        enqueued("k.first");
        for (int next = 1; next < 600; next++) {
            enqueued("k." + next + ".", 4);
            reply(next);
        }
        assertThat(sent.stream().skip(2).filter(batch -> batch.size() < 3)).hasSize(2);
    }

    /** Sends a batch to a Redis without a network. */
    private void sendToNear() {
        nanosPerQuestion = 0;
        enqueued("near");
        reply(0);
    }

    @Test
    void sendsAProbeThatWaitsWithTheRequestsBeforeIt() {
        Breaker breaker = new Breaker(
                new BreakerSettings(true, 1, Duration.ZERO, 1),
                Breaker.Platform.NONE,
                System::nanoTime,
                (requests, waitingKeys) -> {});
        Batcher guarded = batcher(this::send, (requests, waitingKeys) -> {}, breaker);
        for (int i = 0; i <= MAX_IN_FLIGHT; i++) {
            guarded.enqueue(requests.spend("k." + i, 1, LIMIT), -1);
        }
        breaker.record(new BackendException(Reason.TIMEOUT, "timed out", null));
        AcquireRequest probe = requests.probe("k.probe", LIMIT);
        guarded.enqueue(probe, -1);
        reply(0);
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 1);
        assertThat(probe.batch).isSameAs(sent.get(MAX_IN_FLIGHT));
        assertThat(probe).isNotDone();
    }

    @Test
    void keepsTheOrderOfRequestsOnOneKey() {
        sendMaxInFlight();
        for (long cost : new long[] {5, 1, 1, 3, 1}) {
            enqueued(requests.spend("k.hot", cost, LIMIT));
        }
        reply(0);
        List<SentGroup> groups = SentGroup.of(sent.get(MAX_IN_FLIGHT));
        assertThat(groups).extracting(each -> each.costs().get(0)).containsExactly(5L, 1L, 3L, 1L);
        assertThat(groups).extracting(SentGroup::count).containsExactly(1, 2, 1, 1);
    }

    @Test
    void sendsARequestThatDoesNotFitFirstInTheNextBatch() {
        sendMaxInFlight();
        List<AcquireRequest> fitting = enqueued("k.", 57);
        AcquireRequest larger = enqueued(requests.spend("k.larger", 1, MANY));
        AcquireRequest later = enqueued(requests.spend("k.later", 1, LIMIT));
        reply(0);
        assertThat(fitting).allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(MAX_IN_FLIGHT)));
        assertThat(larger.batch).isNull();
        assertThat(later.batch).isNull();
        reply(1);
        assertThat(List.of(larger, later))
                .allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(MAX_IN_FLIGHT + 1)));
    }

    @Test
    void sendsBatchesOfEachSlotIndependently() {
        for (int i = 0; i < MAX_IN_FLIGHT + 1; i++) {
            batcher.enqueue(requests.spend("k.a", 1, LIMIT), 1);
        }
        AcquireRequest other = requests.spend("k.b", 1, LIMIT);
        batcher.enqueue(other, 2);
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 1);
        assertThat(other.batch).isSameAs(sent.get(MAX_IN_FLIGHT));
    }

    @Test
    void boundsTheWaitingKeysOfAllSlotsTogether() {
        for (int slot = 1; slot <= 2; slot++) {
            for (int i = 0; i < MAX_IN_FLIGHT + MAX_WAITING_KEYS / 2; i++) {
                batcher.enqueue(requests.spend("k." + i, 1, LIMIT), slot);
            }
        }
        AcquireRequest beyond = requests.spend("k.beyond", 1, LIMIT);
        batcher.enqueue(beyond, 1);
        BatchTest.assertFailed(beyond, Reason.FULL);
        AcquireRequest elsewhere = requests.spend("k.elsewhere", 1, LIMIT);
        batcher.enqueue(elsewhere, 3);
        assertThat(elsewhere.batch).isNotNull();
    }

    @Test
    void failsRequestsBeyondTheBoundAndDoesNotCountCancelledOnes() {
        sendMaxInFlight();
        List<AcquireRequest> waiting = enqueued("k.", MAX_WAITING_KEYS);
        assertThat(waiting).allSatisfy(request -> assertThat(request).isNotDone());
        BatchTest.assertFailed(enqueued("k.beyond"), Reason.FULL);
        waiting.subList(100, 102).forEach(batcher::cancel);
        batcher.cancel(waiting.get(100));
        BatchTest.assertFailed(enqueued(spendAll("k.1", "k.2", "k.3")), Reason.FULL);
        assertThat(enqueued(spendAll("k.1", "k.2"))).isNotDone();
        BatchTest.assertFailed(enqueued("k.beyond"), Reason.FULL);
        reply(0);
        assertThat(notified.subList(2 * MAX_IN_FLIGHT, notified.size()))
                .containsExactly(MAX_KEYS, MAX_WAITING_KEYS - MAX_KEYS);
        assertThat(enqueued("again.", MAX_KEYS))
                .allSatisfy(request -> assertThat(request).isNotDone());
        BatchTest.assertFailed(enqueued("k.beyond"), Reason.FULL);
    }

    @Test
    void sendsAllWaitingKeysAndCountsThemExactly() {
        sendMaxInFlight();
        List<AcquireRequest> all = enqueued("k.", MAX_WAITING_KEYS);
        for (int i = 0; i < all.size(); i += 3) {
            batcher.cancel(all.get(i));
        }
        for (int next = 0; next < replies.size(); next++) {
            reply(next);
        }
        for (int i = 0; i < all.size(); i++) {
            if (i % 3 == 0) {
                BatchTest.assertFailed(all.get(i), Reason.TIMEOUT);
                assertThat(all.get(i).batch).isNull();
            } else {
                assertThat(all.get(i).join().spent()).isTrue();
            }
        }
        assertThat(notified.get(notified.size() - 1)).isZero();
        assertNoBatchInFlight();
    }

    @Test
    void neverSendsARequestThatWasCancelledWhileItWaited() {
        sendMaxInFlight();
        AcquireRequest first = enqueued("k.a");
        AcquireRequest second = enqueued("k.b");
        batcher.cancel(first);
        BatchTest.assertFailed(first, Reason.TIMEOUT);
        reply(0);
        assertThat(sent.get(MAX_IN_FLIGHT).keys()).isEqualTo(second.keys);
        assertThat(sent.get(MAX_IN_FLIGHT).size()).isEqualTo(1);
    }

    @Test
    void sendsNoBatchOfCancelledRequests() {
        sendMaxInFlight();
        enqueued("k.", 5).forEach(batcher::cancel);
        reply(0);
        assertThat(sent).hasSize(MAX_IN_FLIGHT);
        assertThat(enqueued("k.a").batch).isSameAs(sent.get(MAX_IN_FLIGHT));
    }

    @Test
    void neverSendsARequestAfterItsDeadline() {
        sendMaxInFlight();
        AcquireRequest expired = requests.create(
                List.of(TestBackend.charge("k.expired", 1, LIMIT)), AcquireRequest.Operation.SPEND, clock.get());
        enqueued(expired);
        AcquireRequest inTime = enqueued("k.a");
        reply(0);
        assertThat(expired.batch).isNull();
        assertThat(sent.get(MAX_IN_FLIGHT).keys()).isEqualTo(inTime.keys);
        batcher.cancel(expired);
        BatchTest.assertFailed(expired, Reason.TIMEOUT);
        for (int next = 1; next < replies.size(); next++) {
            reply(next);
        }
        assertNoBatchInFlight();
    }

    @Test
    void replacesABatchWithoutReplyOnceWhenItsFirstRequestIsCancelled() {
        sendMaxInFlight();
        List<AcquireRequest> stuck = enqueued("k.", 3);
        reply(0);
        List<AcquireRequest> later = enqueued("k.", 57);
        AcquireRequest separate = enqueued(requests.spend("k.0", 1, MANY));
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 1);
        batcher.cancel(stuck.get(1));
        assertThat(later).allSatisfy(request -> assertThat(request.batch).isSameAs(sent.get(MAX_IN_FLIGHT + 1)));
        stuck.forEach(batcher::cancel);
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 2);
        assertThat(stuck).allSatisfy(request -> assertThat(request).isNotDone());
        reply(MAX_IN_FLIGHT);
        assertThat(stuck).allSatisfy(request -> assertThat(request).isCompleted());
        assertThat(separate.batch).isNull();
        reply(1);
        assertThat(separate.batch).isSameAs(sent.get(MAX_IN_FLIGHT + 2));
    }

    @Test
    void aBatchTimesOutOnceHoweverManyOfItsRequestsDo() {
        BatchQueue queue = new BatchQueue(new AtomicInteger(), System::nanoTime);
        AcquireRequest expired = requests.create(
                List.of(TestBackend.charge("k.a", 1, LIMIT)), AcquireRequest.Operation.SPEND, System.nanoTime() - 1);
        assertThat(queue.add(expired)).isSameAs(expired.batch).isNotNull();
        assertThat(queue.timeOut(expired.batch, expired)).isTrue();
        assertThat(queue.timeOut(expired.batch, expired)).isFalse();
    }

    @Test
    void anErrorOfTheSenderKeepsNoPlace() {
        Batcher failing = batcher(
                batch -> {
                    throw new StackOverflowError();
                },
                (requests, waitingKeys) -> {},
                Breaker.disabled());
        for (int i = 0; i < 2 * MAX_IN_FLIGHT; i++) {
            AcquireRequest request = requests.spend("k." + i, 1, LIMIT);
            failing.enqueue(request, -1);
            BatchTest.assertFailed(request, Reason.CONNECTION);
        }
    }

    @Test
    void aFailedBatchFailsOnlyItsOwnRequests() {
        long start = System.nanoTime();
        sendMaxInFlight();
        List<AcquireRequest> failing = enqueued("k.", 3);
        reply(0);
        List<AcquireRequest> next = enqueued("k.", 3);
        replies.get(MAX_IN_FLIGHT).completeExceptionally(new RedisConnectionException("gone"));
        failing.forEach(request -> BatchTest.assertFailed(request, Reason.CONNECTION));
        reply(MAX_IN_FLIGHT + 1);
        assertThat(next)
                .allSatisfy(request -> assertThat(request.join().spent()).isTrue());
        assertThat(replyTimes)
                .as("of the two batches with a reply")
                .hasSize(2)
                .allSatisfy(nanos -> assertThat(nanos).isBetween(0L, System.nanoTime() - start));
    }

    @Test
    void aTruncatedReplyFailsTheRequestsItDoesNotAnswer() {
        sendMaxInFlight();
        List<AcquireRequest> all = enqueued("k.", 3);
        reply(0);
        byte[] whole = FakeReply.allowing(sent.get(MAX_IN_FLIGHT));
        replies.get(MAX_IN_FLIGHT).complete(Arrays.copyOf(whole, whole.length - 2));
        assertThat(all.get(1).join().spent()).isTrue();
        BatchTest.assertFailed(all.get(2), Reason.CONNECTION);
        for (int next = 1; next < MAX_IN_FLIGHT; next++) {
            reply(next);
        }
        assertNoBatchInFlight();
    }

    @Test
    void aBatchThatWasNotSentIsNoFailureOfRedis() {
        Breaker breaker = new Breaker(
                new BreakerSettings(true, 1, Duration.ZERO, 1),
                Breaker.Platform.NONE,
                System::nanoTime,
                (requests, waitingKeys) -> {});
        BackendException full = new BackendException(Reason.FULL, "too many", null);
        Batcher rejecting =
                batcher(batch -> CompletableFuture.failedFuture(full), (requests, waitingKeys) -> {}, breaker);
        AcquireRequest request = requests.spend("k.a", 1, LIMIT);
        rejecting.enqueue(request, 7);
        BatchTest.assertFailed(request, Reason.FULL);
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void failingThousandsOfBatchesAtOnceDoesNotOverflowTheStack() {
        for (boolean thrown : new boolean[] {false, true}) {
            List<CompletableFuture<byte[]>> held = new ArrayList<>();
            Batcher failing = batcher(
                    batch -> {
                        if (held.size() < MAX_IN_FLIGHT) {
                            held.add(new CompletableFuture<>());
                            return held.get(held.size() - 1);
                        } else if (thrown) {
                            throw new IllegalStateException("shut down");
                        }
                        return CompletableFuture.failedFuture(new RedisConnectionException("gone"));
                    },
                    (requests, waitingKeys) -> {},
                    Breaker.disabled());
            // Two requests have more limits than a batch, so each one is sent alone.
            List<AcquireRequest> all = IntStream.range(0, MAX_WAITING_KEYS)
                    .mapToObj(i -> requests.spend("k.a", 1 + i % 2, MANY))
                    .toList();
            all.forEach(request -> failing.enqueue(request, -1));
            for (CompletableFuture<byte[]> reply : held) {
                reply.completeExceptionally(new RedisConnectionException("gone"));
            }
            all.forEach(request -> BatchTest.assertFailed(request, Reason.CONNECTION));
        }
    }

    @Test
    void sendsOnlyTheProbeOnceTheBreakerIsOpen() {
        Breaker breaker = new Breaker(
                BreakerSettings.DEFAULT, Breaker.Platform.NONE, System::nanoTime, (requests, waitingKeys) -> {});
        Batcher guarded = batcher(this::send, (requests, waitingKeys) -> {}, breaker);
        List<AcquireRequest> all = IntStream.range(0, 20)
                .mapToObj(i -> requests.spend("k.a", 1, LIMIT))
                .toList();
        all.forEach(request -> guarded.enqueue(request, -1));
        for (int failure = 0; failure < 5; failure++) {
            breaker.record(new BackendException(Reason.TIMEOUT, "timed out", null));
        }
        replies.forEach(reply -> reply.completeExceptionally(new RedisConnectionException("gone")));
        assertThat(sent).hasSize(MAX_IN_FLIGHT);
        all.subList(0, MAX_IN_FLIGHT).forEach(request -> BatchTest.assertFailed(request, Reason.CONNECTION));
        all.subList(MAX_IN_FLIGHT, 20).forEach(request -> BatchTest.assertFailed(request, Reason.BREAKER_OPEN));
        AcquireRequest probe = requests.probe("k.a", LIMIT);
        guarded.enqueue(probe, -1);
        assertThat(sent).hasSize(MAX_IN_FLIGHT + 1);
    }

    @Test
    void sendsBatchesAlthoughTheListenerThrows() {
        BackendListener broken = (requests, waitingKeys) -> {
            throw new IllegalStateException("no meter");
        };
        Batcher notifying = batcher(this::send, broken, Breaker.disabled());
        List<AcquireRequest> all = IntStream.range(0, 20)
                .mapToObj(i -> requests.spend("k.a", 1, LIMIT))
                .toList();
        all.forEach(request -> notifying.enqueue(request, -1));
        for (int next = 0; next < replies.size(); next++) {
            reply(next);
        }
        assertThat(all).allSatisfy(request -> assertThat(request.join().spent()).isTrue());
    }

    private void sendMaxInFlight() {
        for (int i = 0; i < MAX_IN_FLIGHT; i++) {
            AcquireRequest request = enqueued("first." + i);
            assertThat(request.batch).isSameAs(sent.get(i));
        }
    }

    /** Checks that two batches, and not three, can be sent. */
    private void assertNoBatchInFlight() {
        int before = sent.size();
        enqueued("idle.", MAX_IN_FLIGHT + 1);
        assertThat(sent).hasSize(before + MAX_IN_FLIGHT);
    }

    private void reply(int number) {
        replies.get(number).complete(FakeReply.allowing(sent.get(number)));
    }

    private List<AcquireRequest> enqueued(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> enqueued(prefix + i)).toList();
    }

    private AcquireRequest enqueued(String storedKey) {
        return enqueued(requests.spend(storedKey, 1, LIMIT));
    }

    private AcquireRequest spendAll(String... storedKeys) {
        return requests.spend(Stream.of(storedKeys)
                .map(storedKey -> TestBackend.charge(storedKey, 1, LIMIT))
                .toList());
    }

    private AcquireRequest enqueued(AcquireRequest request) {
        batcher.enqueue(request, -1);
        return request;
    }
}
