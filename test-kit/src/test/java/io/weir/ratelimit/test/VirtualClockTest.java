// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.fixtures.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class VirtualClockTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final long SECOND = 1_000_000;

    private final VirtualClock clock = new VirtualClock(START);

    private Thread sleep(long micros, Runnable after) {
        return sleep(new CompletableFuture<>(), micros, after);
    }

    private Thread sleep(CompletableFuture<Void> signal, long micros, Runnable after) {
        Thread thread = new Thread(() -> {
            try {
                clock.sleep(signal, micros);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            after.run();
            clock.ended();
        });
        thread.start();
        return thread;
    }

    @Test
    void movesOnlyForward() {
        clock.advance(Duration.ofSeconds(5));
        assertThat(clock.now()).isEqualTo(START.plusSeconds(5));
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advance(Duration.ofNanos(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advanceTo(START));
    }

    @Test
    void movesBy200YearsAtMost() throws Exception {
        for (Duration duration : List.of(
                Duration.ofHours(99_999_999), Duration.ofSeconds(Long.MAX_VALUE), Duration.ofSeconds(Long.MIN_VALUE))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> clock.advance(duration))
                    .withMessageContaining(duration.toString());
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> clock.advanceTo(Instant.MAX))
                .withMessageContaining("200 years");
        clock.advance(Duration.ofDays(150 * 365));
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advance(Duration.ofDays(150 * 365)));
        clock.advance(Duration.ofDays(50 * 365));
        clock.reset();
        assertThat(clock.now()).isEqualTo(START);
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advance(Duration.ofNanos(1)));
        clock.advance(Duration.ZERO);
    }

    @Test
    void endsWaitsInOrderAndAtTheirInstants() throws Exception {
        List<Duration> ends = Collections.synchronizedList(new ArrayList<>());
        Runnable note = () -> ends.add(Duration.between(START, clock.now()));
        Thread second = sleep(2 * SECOND, note);
        clock.awaitWaiting(1);
        Thread first = sleep(SECOND, note);
        clock.awaitWaiting(2);
        CompletableFuture<Void> timer = clock.timer(3 * SECOND).thenRun(note);
        Thread late = sleep(11 * SECOND, note);
        clock.awaitWaiting(4);

        clock.advance(Duration.ofSeconds(10));

        assertThat(timer).isDone();
        assertThat(ends).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3));
        assertThat(clock.waiting()).isEqualTo(1);
        clock.advance(Duration.ofSeconds(1));
        for (Thread thread : List.of(first, second, late)) {
            thread.join();
        }
        assertThat(ends).hasSize(4);
    }

    @Test
    void waitsUntilAWokenCallWaitsAgain() throws Exception {
        AtomicInteger wakes = new AtomicInteger();
        Thread thread = sleep(SECOND, () -> {
            wakes.incrementAndGet();
            try {
                clock.sleep(new CompletableFuture<>(), SECOND);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            wakes.incrementAndGet();
        });
        clock.awaitWaiting(1);
        clock.advance(Duration.ofSeconds(5));
        assertThat(wakes).hasValue(2);
        thread.join();
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread thread =
                sleep(SECOND, () -> interrupted.complete(Thread.currentThread().isInterrupted()));
        clock.awaitWaiting(1);
        thread.interrupt();
        assertThat(interrupted.join()).isTrue();
        thread.join();
        assertThat(clock.waiting()).isZero();
    }

    @Test
    void theThreadOfTheTestMovesTheClock() throws Exception {
        clock.testThread(Thread.currentThread());
        clock.sleep(new CompletableFuture<>(), SECOND);
        assertThat(clock.now()).isEqualTo(START.plusSeconds(1));
        clock.pause(Duration.ofSeconds(1));
        assertThat(clock.now()).isEqualTo(START.plusSeconds(2));
    }

    @Test
    void theThreadOfTheTestMovesTheClockUntilASignal() throws Exception {
        clock.testThread(Thread.currentThread());
        CompletableFuture<Void> signal = clock.timer(SECOND);
        clock.sleep(signal, 5 * SECOND);
        assertThat(clock.now()).isEqualTo(START.plusSeconds(1));
        clock.sleep(signal, 5 * SECOND);
        assertThat(clock.now()).isEqualTo(START.plusSeconds(1));
        clock.sleep(new CompletableFuture<>(), 5 * SECOND);
        assertThat(clock.now()).isEqualTo(START.plusSeconds(6));
    }

    @Test
    void theClockMovesAfterACallThatASignalWokeIsDecided() throws Exception {
        CompletableFuture<Void> signal = new CompletableFuture<>();
        CompletableFuture<Instant> ended = new CompletableFuture<>();
        Thread thread = sleep(signal, SECOND, () -> ended.complete(clock.now()));
        clock.awaitWaiting(1);
        signal.complete(null);
        assertThat(clock.waiting()).isZero();
        clock.advance(Duration.ofSeconds(10));
        assertThat(ended.join()).isEqualTo(START);
        thread.join();
    }

    @Test
    void theClockMovesThroughADelayAfterAWait() throws Exception {
        CompletableFuture<Instant> ended = new CompletableFuture<>();
        Thread thread = sleep(SECOND, () -> {
            clock.pause(Duration.ofSeconds(2));
            ended.complete(clock.now());
        });
        clock.awaitWaiting(1);
        clock.advance(Duration.ofSeconds(10));
        assertThat(ended.join()).isEqualTo(START.plusSeconds(3));
        thread.join();
    }

    @Test
    void aTimerOfRenewalsIsNoWaitingCall() {
        CompletableFuture<Void> renewal = clock.renewalTimer(SECOND);
        assertThat(clock.waiting()).isZero();
        clock.advance(Duration.ofSeconds(1));
        assertThat(renewal).isDone();
    }

    @Test
    void aCanceledTimerDoesNotWait() {
        CompletableFuture<Void> timer = clock.timer(SECOND);
        timer.cancel(false);
        assertThat(clock.waiting()).isZero();
        clock.advance(Duration.ofSeconds(2));
    }

    @Test
    void runsATaskOnceHoweverFarItMoves() {
        AtomicInteger runs = new AtomicInteger();
        repeat(runs);
        assertThat(clock.waiting()).isZero();
        clock.advance(Duration.ofDays(400));
        assertThat(runs).hasValue(1);
        clock.advance(Duration.ofSeconds(1));
        assertThat(runs).hasValue(2);
    }

    private void repeat(AtomicInteger runs) {
        CompletionStage<Void> timer = clock.tasks().timer(SECOND);
        timer.thenRun(() -> {
            runs.incrementAndGet();
            repeat(runs);
        });
    }

    @Test
    void aResetAwaitsTheDecisionsOnTheCallsThatItEnds() throws Exception {
        Thread test = Thread.currentThread();
        AtomicInteger decided = new AtomicInteger();
        Thread thread = sleep(SECOND, () -> {
            Await.until("the reset waits", Duration.ofSeconds(5), () -> test.getState() == Thread.State.TIMED_WAITING);
            decided.incrementAndGet();
        });
        clock.awaitWaiting(1);
        clock.reset();
        assertThat(decided).hasValue(1);
        thread.join();
    }

    @Test
    void aResetEndsWaitsAndOutdatesThePast() throws Exception {
        Thread thread = sleep(SECOND, () -> {});
        clock.awaitWaiting(1);
        clock.advance(Duration.ofMillis(1));
        long before = clock.nanos();
        clock.reset();
        thread.join();
        assertThat(clock.now()).isEqualTo(START);
        assertThat(clock.nanos() - before).isEqualTo(Duration.ofDays(1).toNanos());
    }
}
