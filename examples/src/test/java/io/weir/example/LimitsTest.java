// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.test.RateLimitClock;
import io.weir.ratelimit.test.RateLimits;
import io.weir.ratelimit.test.WeirTest;
import jakarta.inject.Inject;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A template for the tests of limits: beans, the calendar and an outage, with the configuration of the application. */
@WeirTest(beans = ReportService.class, now = "2026-01-31T23:59:00Z")
class LimitsTest {
    private static final Identity CUSTOMER = Identity.header("X-Customer", "acme");

    @Inject
    private ReportService reports;

    @Inject
    private RateLimiter limiter;

    @Inject
    private RateLimits limits;

    @Inject
    private RateLimitClock clock;

    @Test
    void limitsReports() {
        reports.report();
        reports.report();
        reports.report();
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> reports.report())
                .satisfies(e -> clock.advance(e.retryAfter().orElseThrow()));
        assertThat(reports.report().title()).isEqualTo("Water levels");
    }

    @Test
    void permitsOfTheMonthReturnOnItsFirstDay() {
        limits.exhaust("monthly", CUSTOMER);
        assertThat(limiter.acquire("monthly", CUSTOMER)).isRejectedBy("monthly");

        clock.advanceTo(Instant.parse("2026-02-01T00:00:00Z"));
        assertThat(limiter.acquire("monthly", CUSTOMER)).isAllowed().hasQuota("monthly", 2);
    }

    @Test
    void rejectsLoginsDuringAnOutage() {
        limits.failBackend();
        assertThat(limiter.acquire("login-user", Identity.argument("username", "ann")))
                .isDegraded(FailureMode.CLOSED)
                .hasReason("connection");
        assertThat(limiter.acquire("hello", "anyone")).isAllowed().isDegraded(FailureMode.OPEN);
    }
}
