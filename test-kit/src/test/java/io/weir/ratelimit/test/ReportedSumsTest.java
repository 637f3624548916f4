// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums that other limiters have reported to be wrong: costs, refunds and several limits. */
@WeirTest(
        container = false,
        properties = {
            "ratelimit.policies.fixed-window.limit=10/1m",
            "ratelimit.policies.fixed-window.algorithm=fixed-window",
            "ratelimit.policies.sliding-window.limit=10/1m",
            "ratelimit.policies.sliding-log.limit=10/1m",
            "ratelimit.policies.sliding-log.algorithm=sliding-log",
            "ratelimit.policies.token-bucket.limit=10/1m",
            "ratelimit.policies.token-bucket.algorithm=token-bucket",
            "ratelimit.policies.several.limit=5/1m, 20/1h, 100/1d",
            "ratelimit.policies.slots.limit=10/1m",
            "ratelimit.policies.slots.concurrency=1",
            "ratelimit.policies.most.limit=" + ReportedSumsTest.MOST + "/1s"
        })
@Tag("field")
class ReportedSumsTest {
    static final String MOST = "281474976710654";

    RateLimiter limiter;
    RateLimits limits;
    RateLimitClock clock;

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "sliding-window", "sliding-log", "token-bucket"})
    void aCostAboveTheLimitIsNeverAllowedAndSpendsNothing(String policy) {
        for (int call = 0; call < 2; call++) {
            Decision decision = limiter.acquire(policy, "acme", 11);
            assertThat(decision)
                    .isInstanceOfSatisfying(
                            Decision.Rejected.class,
                            rejected -> assertThat(rejected.retryAfter()).isEqualTo(Optional.empty()));
        }
        assertThat(limits.remaining(policy, "acme")).isEqualTo(10);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void aCostBelowOneReturnsNoPermit(long cost) {
        limiter.acquire("fixed-window", "acme", 10);
        assertThatThrownBy(() -> limiter.acquire("fixed-window", "acme", cost))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> limiter.refund("fixed-window", Identity.of("acme"), cost))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(limits.remaining("fixed-window", "acme")).isZero();
    }

    @Test
    void aRefundAfterTheWindowLeavesTheNextOne() {
        Decision before = limiter.acquire("fixed-window", "acme", 4);
        clock.advance(Duration.ofMinutes(1));
        limiter.acquire("fixed-window", "acme", 10);
        limiter.refund(before.receipt());
        limiter.settle(before.receipt(), 1);
        assertThat(limits.remaining("fixed-window", "acme")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "sliding-window", "sliding-log", "token-bucket"})
    void aSecondRefundReturnsNothing(String policy) {
        Decision first = limiter.acquire(policy, "acme", 4);
        limiter.acquire(policy, "acme", 4);
        limiter.refund(first.receipt());
        limiter.refund(first.receipt());
        assertThat(limits.remaining(policy, "acme")).isEqualTo(6);
    }

    @Test
    void aCallCountsOnceUnderEachOfItsLimits() {
        for (int call = 0; call < 5; call++) {
            assertThat(limiter.acquire("several", "acme").allowed()).isTrue();
        }
        assertThat(limiter.acquire("several", "acme").allowed()).isFalse();
        clock.advance(Duration.ofHours(2));
        assertThat(limiter.peek("several", "acme").get(2).remaining()).isEqualTo(95);
    }

    @Test
    void aRejectionByTheConcurrencySpendsNoPermit() {
        Decision running = limiter.acquire("slots", "acme");
        for (int call = 0; call < 20; call++) {
            assertThat(limiter.acquire("slots", "acme").allowed()).isFalse();
        }
        limiter.release(running.receipt());
        for (int call = 0; call < 9; call++) {
            Decision next = limiter.acquire("slots", "acme");
            assertThat(next.allowed()).isTrue();
            limiter.release(next.receipt());
        }
        assertThat(limiter.acquire("slots", "acme").allowed()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"fixed-window, 11", "sliding-log, 11", "token-bucket, 20"})
    void aClientThatNeverStopsIsAllowedAgain(String policy, int expected) {
        limiter.acquire(policy, "acme", 10);
        int allowed = 0;
        for (int second = 0; second < 120; second++) {
            clock.advance(Duration.ofSeconds(1));
            allowed += limiter.acquire(policy, "acme").allowed() ? 1 : 0;
        }
        assertThat(allowed).isEqualTo(expected);
    }

    @Test
    void theGreatestLimitDoesNotOverflow() {
        assertThat(Long.parseLong(MOST)).isEqualTo(Limit.MAX_PERMITS);
        assertThat(limiter.acquire("most", "acme", Limit.MAX_PERMITS - 1).allowed())
                .isTrue();
        assertThat(limiter.acquire("most", "acme", 2).allowed()).isFalse();
        assertThat(limiter.acquire("most", "acme", Long.MAX_VALUE).allowed()).isFalse();
        assertThat(limiter.acquire("most", "acme").allowed()).isTrue();
        assertThat(limits.remaining("most", "acme")).isZero();
    }
}
