// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits for slots of a concurrency limit under the virtual clock. */
@Timeout(20)
@WeirTest(
        properties = {
            "ratelimit.policies.cw.concurrency=1",
            "ratelimit.policies.cw.key=global",
            "ratelimit.policies.cw.max-wait=5s"
        },
        beans = {SlotWaitTest.Outer.class, SlotWaitTest.Inner.class})
class SlotWaitTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    @ApplicationScoped
    static class Inner {
        @RateLimit("cw")
        String call() {
            return "inner";
        }
    }

    @ApplicationScoped
    static class Outer {
        @Inject
        Inner inner;

        @RateLimit("cw")
        String call() {
            return inner.call();
        }
    }

    @Inject
    Outer outer;

    @Inject
    Inner inner;

    RateLimiter limiter;
    RateLimitClock clock;

    private CompletableFuture<Decision> acquireOnAnotherThread() {
        return CompletableFuture.supplyAsync(() -> limiter.acquire("cw", "k"), task -> new Thread(task).start());
    }

    @Test
    void aCallOnTheThreadOfTheTestMovesTheClockToTheEndOfItsWait() {
        Decision first = limiter.acquire("cw", "k");
        assertThat(limiter.acquire("cw", "k").allowed()).isFalse();
        assertThat(clock.now()).isEqualTo(START.plusSeconds(5));
        limiter.release(first.receipt());
        assertThat(limiter.acquire("cw", "k").allowed()).isTrue();
        assertThat(clock.now()).isEqualTo(START.plusSeconds(5));
    }

    @Test
    void aMethodThatCallsAnotherOneMovesTheClock() {
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(outer::call);
        assertThat(clock.now()).isEqualTo(START.plusSeconds(5));
        assertThat(inner.call()).isEqualTo("inner");
    }

    @Test
    void aReleaseEndsTheWaitOfAnotherThreadWithoutTheClock() {
        Decision first = limiter.acquire("cw", "k");
        CompletableFuture<Decision> waiting = acquireOnAnotherThread();
        clock.awaitWaiting(1);
        assertThat(waiting).isNotDone();

        limiter.release(first.receipt());
        assertThat(waiting.join().allowed()).isTrue();
        assertThat(clock.now()).isEqualTo(START);
        assertThat(clock.waiting()).isZero();
    }

    @Test
    void theClockEndsTheWaitOfAnotherThread() {
        limiter.acquire("cw", "k");
        CompletableFuture<Decision> waiting = acquireOnAnotherThread();
        clock.awaitWaiting(1);
        clock.advance(Duration.ofSeconds(5));
        assertThat(waiting.join().allowed()).isFalse();
        assertThat(clock.now()).isEqualTo(START.plusSeconds(5));
    }
}
