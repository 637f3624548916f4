// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimiter;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
@WeirTest(
        container = false,
        properties = {
            "ratelimit.policies.hello.limit=3/10s",
            "ratelimit.policies.hello.algorithm=fixed-window",
            "ratelimit.policies.patient.limit=1/10s",
            "ratelimit.policies.patient.algorithm=fixed-window",
            "ratelimit.policies.patient.max-wait=30s",
            "ratelimit.policies.closed.limit=3/10s",
            "ratelimit.policies.closed.on-failure=closed",
            "ratelimit.policies.monthly.limit=100/month",
            "ratelimit.policies.login.limit=1/1s",
            "ratelimit.policies.login.algorithm=fixed-window",
            "ratelimit.policies.login.penalty.after=3/1m",
            "ratelimit.policies.login.penalty.for=15m",
            "ratelimit.policies.slow.concurrency=1",
            "ratelimit.policies.slow.concurrency-timeout=60s"
        },
        now = "2026-01-31T23:59:00Z")
class PlainWeirTest {
    RateLimiter limiter;
    RateLimitClock clock;
    RateLimits limits;

    @RepeatedTest(2)
    void startsWithoutStateAndAtItsFirstTime() {
        assertThat(clock.now()).isEqualTo(Instant.parse("2026-01-31T23:59:00Z"));
        assertThat(limits.remaining("hello", "a")).isEqualTo(3);

        limits.exhaust("hello", "a");
        clock.advance(Duration.ofSeconds(3));

        assertThat(limiter.acquire("hello", "a").allowed()).isFalse();
        assertThat(limiter.acquire("hello", "b").allowed()).isTrue();
    }

    @Test
    void advancesWindows() {
        limits.exhaust("hello", "a");
        clock.advance(Duration.ofSeconds(10));
        assertThat(limits.remaining("hello", "a")).isEqualTo(3);
    }

    @Test
    void advancesCalendarPeriods() {
        limits.exhaust("monthly", "a");
        clock.advanceTo(Instant.parse("2026-01-31T23:59:59.999Z"));
        assertThat(limits.remaining("monthly", "a")).isZero();
        clock.advanceTo(Instant.parse("2026-02-01T00:00:00Z"));
        assertThat(limits.remaining("monthly", "a")).isEqualTo(100);
    }

    @Test
    void advancesPenalties() {
        for (int call = 0; call < 4; call++) {
            limiter.acquire("login", "a");
        }
        clock.advance(Duration.ofMinutes(15).minusMillis(1));
        assertThat(limiter.acquire("login", "a"))
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        rejected -> assertThat(rejected.blocked()).isTrue());
        clock.advance(Duration.ofMillis(1));
        assertThat(limiter.acquire("login", "a").allowed()).isTrue();
    }

    @Test
    void renewsTheSlotsOfRunningCalls() {
        Decision running = limiter.acquire("slow", "a");
        clock.advance(Duration.ofHours(1));
        assertThat(limiter.acquire("slow", "a").allowed()).isFalse();
        limiter.release(running.receipt());
        assertThat(limiter.acquire("slow", "a").allowed()).isTrue();
    }

    @Test
    void advancesTheTimeoutOfSlotsThatAreNotRenewed() {
        Decision running = limiter.acquire("slow", "a");
        limits.failBackend();
        clock.advance(Duration.ofSeconds(61));
        limits.recoverBackend();
        clock.advance(Duration.ofSeconds(31));
        assertThat(limiter.acquire("slow", "a").allowed()).isTrue();
        limiter.release(running.receipt());
    }

    @Test
    void movesTheClockForACallThatWaitsOnTheThreadOfTheTest() {
        limiter.acquire("patient", "a");
        assertThat(limiter.acquire("patient", "a").allowed()).isTrue();
        assertThat(clock.now()).isEqualTo(Instant.parse("2026-01-31T23:59:10Z"));
    }

    @Test
    void endsTheWaitOfAnotherThreadWithTheClock() {
        limiter.acquire("patient", "a");
        CompletableFuture<Decision> waiting =
                CompletableFuture.supplyAsync(() -> limiter.acquire("patient", "a"), task -> new Thread(task).start());
        clock.awaitWaiting(1);
        assertThat(waiting).isNotDone();
        clock.advance(Duration.ofSeconds(10));
        assertThat(waiting.join().allowed()).isTrue();
    }

    @Test
    void aResetLeavesNothingToACallThatWaits() {
        for (int repetition = 0; repetition < 200; repetition++) {
            limiter.acquire("patient", "a");
            CompletableFuture<Decision> waiting = CompletableFuture.supplyAsync(
                    () -> limiter.acquire("patient", "a"), task -> new Thread(task).start());
            clock.awaitWaiting(1);
            limits.resetAll();
            assertThat(waiting.join().allowed()).as("repetition %d", repetition).isFalse();
            assertThat(limits.remaining("patient", "a")).isEqualTo(1);
        }
    }

    @Test
    void failsAndRecoversTheBackend() {
        limits.failBackend();
        assertThat(limiter.acquire("closed", "a"))
                .isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "connection"));
        limits.recoverBackend();
        assertThat(limiter.acquire("closed", "a").allowed()).isTrue();
    }

    @Nested
    class NestedClasses {
        @Test
        void shareTheEngine(RateLimitClock sameClock, RateLimits sameLimits) {
            assertThat(sameClock).isSameAs(clock);
            assertThat(sameLimits).isSameAs(limits);
        }
    }
}
