// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.time.Duration;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("redis")
class RedisWeirTest {
    @RegisterExtension
    static final WeirExtension WEIR = WeirExtension.builder()
            .policy("mail", "3/1h")
            .property("ratelimit.policies.mail.algorithm", "fixed-window")
            .property("ratelimit.policies.mail.on-failure", "closed")
            .property("ratelimit.redis.deadline", "30s")
            .redis(RedisFixture.shared().address())
            .build();

    @RepeatedTest(2)
    void beginsWithoutState(RateLimiter limiter, RateLimits limits) {
        assertThat(limits.remaining("mail", "a")).isEqualTo(3);
        assertThat(limiter.acquire("mail", "a")).isAllowed().hasQuota("mail", 2);
        limits.exhaust("mail", "a");
        assertThat(limiter.acquire("mail", "a")).isRejectedBy("mail");
        limits.reset("mail", "a");
        assertThat(limits.remaining("mail", "a")).isEqualTo(3);
    }

    @Test
    void failsTheBackend(RateLimiter limiter, RateLimits limits) {
        limits.failBackend();
        assertThat(limiter.acquire("mail", "a")).isDegraded(FailureMode.CLOSED);
        limits.recoverBackend();
        assertThat(limiter.acquire("mail", "a")).isAllowed();
    }

    @Test
    void doesNotMoveTheClock(RateLimitClock clock) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> clock.advance(Duration.ofSeconds(1)));
    }
}
