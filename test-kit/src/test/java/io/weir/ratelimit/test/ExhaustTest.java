// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The exhaustion of keys: no limit of the policy has a permit or a slot. */
@WeirTest(
        container = false,
        properties = {
            "ratelimit.policies.both.limit=10/1m",
            "ratelimit.policies.both.concurrency=3",
            "ratelimit.policies.slots.concurrency=2",
            "ratelimit.policies.slots.concurrency-timeout=5m",
            "ratelimit.policies.several.limit=10/1s, 1000/1h, 5000/month",
            "ratelimit.policies.bucket.limit=10/1m",
            "ratelimit.policies.bucket.algorithm=token-bucket",
            "ratelimit.policies.bucket.burst=30",
            "ratelimit.policies.blocked.limit=0/1m, 5/1h"
        })
class ExhaustTest {
    RateLimiter limiter;
    RateLimits limits;
    RateLimitClock clock;

    @ParameterizedTest
    @Tag("field")
    @ValueSource(strings = {"both", "slots", "several", "bucket", "blocked"})
    void noLimitHasAPermitOrASlot(String policy) {
        limiter.acquire(policy, "acme");
        limits.exhaust(policy, "acme");
        assertThat(limiter.peek(policy, Identity.of("acme")))
                .allSatisfy(quota -> assertThat(quota.remaining()).isZero());
        assertThat(limiter.acquire(policy, "acme")).isInstanceOf(Decision.Rejected.class);
        assertThat(limits.remaining(policy, "other")).isEqualTo(least(policy));
    }

    private long least(String policy) {
        return limiter.peek(policy, Identity.of("untouched")).stream()
                .mapToLong(Quota::remaining)
                .min()
                .orElseThrow();
    }

    @Test
    void theSlotsAreFreeAfterTheirTimeoutOrAReset() {
        limits.exhaust("slots", "acme");
        clock.advance(Duration.ofMinutes(4));
        assertThat(limiter.acquire("slots", "acme").allowed()).isFalse();
        clock.advance(Duration.ofMinutes(1));
        assertThat(limits.remaining("slots", "acme")).isEqualTo(2);
        limits.exhaust("slots", "acme");
        limits.reset("slots", "acme");
        assertThat(limits.remaining("slots", "acme")).isEqualTo(2);
    }
}
