// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tests of an application whose configuration names a Redis that no test reaches. */
class ConfiguredRedisTest {
    @ApplicationScoped
    static class Mail {
        @RateLimit("mail")
        String send() {
            return "sent";
        }
    }

    private static void countsUnderTheClockOfTheTest(RateLimiter limiter, RateLimits limits, RateLimitClock clock) {
        assertThat(limiter.acquire("mail", "acme").allowed()).isTrue();
        assertThat(limiter.acquire("mail", "acme").allowed()).isFalse();
        clock.advance(Duration.ofHours(1));
        assertThat(limits.remaining("mail", "acme")).isOne();
    }

    @Nested
    @WeirTest(
            properties = {
                "ratelimit.policies.mail.limit=1/1h",
                "ratelimit.policies.mail.algorithm=fixed-window",
                "ratelimit.redis.address=redis://192.0.2.1:6379"
            },
            beans = Mail.class)
    class WithListedBeans {
        @Inject
        Mail mail;

        @Test
        @Tag("field")
        void counts(RateLimiter limiter, RateLimits limits, RateLimitClock clock) {
            assertThat(mail.send()).isEqualTo("sent");
            countsUnderTheClockOfTheTest(limiter, limits, clock);
        }
    }

    @Nested
    @WeirTest(
            properties = {
                "ratelimit.policies.mail.limit=1/1h",
                "ratelimit.policies.mail.algorithm=fixed-window",
                "ratelimit.backend=redisson",
                "ratelimit.redis.config=classpath:no-such-file.yaml"
            })
    class WithBeansOfTheClassPath {
        @Test
        @Tag("field")
        void counts(RateLimiter limiter, RateLimits limits, RateLimitClock clock) {
            countsUnderTheClockOfTheTest(limiter, limits, clock);
        }
    }
}
