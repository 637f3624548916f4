// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Blocks, changes and events in a test, without a container and in one. */
class LimitStateTest {
    private static final String LIMIT = "ratelimit.policies.api.limit=4/1m";
    private static final String FIXED = "ratelimit.policies.api.algorithm=fixed-window";
    private static final String NOTIFY = "ratelimit.policies.api.notify-at=50%";
    private static final String AFTER = "ratelimit.policies.api.penalty.after=2/1m";
    private static final String FOR = "ratelimit.policies.api.penalty.for=15m";
    private static final String DOTTED = "ratelimit.policies.\"Report.create\".limit=1/1m";

    abstract static class States {
        RateLimiter limiter;
        RateLimits limits;
        RateLimitClock clock;

        @Test
        void aBlockEnds() {
            limits.block("api", "acme", Duration.ofMinutes(5));
            assertThat(limiter.acquire("api", "acme")).isRejectedBy("api");
            limits.unblock("api", "acme");
            assertThat(limiter.acquire("api", "acme")).isAllowed();

            limits.failBackend();
            limits.block("api", "acme", Duration.ofMinutes(5));
            limits.recoverBackend();
            clock.advance(Duration.ofMinutes(4));
            assertThat(limiter.acquire("api", "acme")).isRejectedBy("api");
            clock.advance(Duration.ofMinutes(1));
            assertThat(limiter.acquire("api", "acme")).isAllowed();
        }

        @Test
        void aChangeAppliesAtOnceAndEndsWithAReset() {
            limits.change("api", "limit", "1/1m");
            limits.change("Report.create", "limit", "7/1m");
            assertThat(limits.remaining("api", "acme")).isEqualTo(1);
            assertThat(limits.remaining("Report.create", "acme")).isEqualTo(7);

            limits.resetAll();
            assertThat(limits.remaining("api", "acme")).isEqualTo(4);
            assertThat(limits.remaining("Report.create", "acme")).isEqualTo(1);
        }

        @Test
        void anInvalidChangeChangesNothing() {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> limits.change("api", "limit", "many"))
                    .withMessageContaining("ratelimit.policies.api.limit");
            assertThatIllegalArgumentException().isThrownBy(() -> limits.change("other", "limit", "1/1m"));
            assertThat(limits.remaining("api", "acme")).isEqualTo(4);
        }

        @Test
        void eventsAreListedWhenTheCallReturns() {
            limiter.acquire("api", "acme", 2);
            assertThat(limits.events(QuotaThresholdReached.class)).hasSize(1);
            limiter.acquire("api", "acme", 2);
            limiter.acquire("api", "acme");
            limiter.acquire("api", "acme");
            assertThat(limits.events(RateLimitRejected.class))
                    .extracting(RateLimitRejected::policy)
                    .containsExactly("api", "api");
            assertThat(limits.events(PenaltyImposed.class))
                    .extracting(PenaltyImposed::policy, PenaltyImposed::duration)
                    .containsExactly(tuple("api", Duration.ofMinutes(15)));

            limits.resetAll();
            assertThat(limits.events(Object.class)).isEmpty();
        }

        @Test
        void aShareIsReportedAgainAfterAReset() {
            limiter.acquire("api", "acme", 2);
            limits.resetAll();
            limiter.acquire("api", "acme", 2);
            assertThat(limits.events(QuotaThresholdReached.class)).hasSize(1);

            limits.reset();
            limiter.acquire("api", "acme", 2);
            assertThat(limits.events(QuotaThresholdReached.class)).hasSize(2);
        }

        @Test
        void anOutageIsAnEvent() {
            limits.failBackend();
            limiter.acquire("api", "acme");
            assertThat(limits.events(BackendStateChanged.class)).hasSize(1);
        }
    }

    @Nested
    @WeirTest(
            container = false,
            properties = {LIMIT, FIXED, NOTIFY, AFTER, FOR, DOTTED})
    class WithoutAContainer extends States {}

    @Nested
    @WeirTest(
            properties = {LIMIT, FIXED, NOTIFY, AFTER, FOR, DOTTED},
            beans = InAContainer.Application.class)
    class InAContainer extends States {
        @ApplicationScoped
        static class Application {}
    }
}
