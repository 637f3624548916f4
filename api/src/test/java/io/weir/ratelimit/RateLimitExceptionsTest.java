// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static io.weir.ratelimit.QuotaTest.rejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendException;
import jakarta.ejb.ApplicationException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitExceptionsTest {
    private final Decision.Rejected rejected = new Decision.Rejected(List.of(
            new ChargeResult("login-ip", false, List.of(rejected("login-ip", "login-ip-1m", 1))),
            new ChargeResult("login-user", false, List.of(rejected("login-user", "login-user", 2_000_000)))));

    @Test
    void exceededExceptionNamesThePoliciesAndTheWaitAndHasTheDecision() {
        RateLimitExceededException exception = new RateLimitExceededException(rejected);
        assertThat(exception).hasMessage("rate limit exceeded: login-ip, login-user; retry after 2 s");
        assertThat(exception.decision()).isSameAs(rejected);
        assertThat(exception.retryAfter()).contains(Duration.ofSeconds(2));
    }

    @Test
    void unavailableExceptionHasAReason() {
        RateLimitUnavailableException exception = new RateLimitUnavailableException("timeout");
        assertThat(exception).hasMessage("the rate limit backend is unavailable: timeout");
        assertThat(exception.reason()).isEqualTo("timeout");
    }

    @Test
    void backendExceptionHasAReasonAndACause() {
        Exception cause = new IllegalStateException("gone");
        BackendException exception = new BackendException(BackendException.Reason.CONNECTION, "no node", cause);
        assertThat(exception).hasMessage("no node").hasCause(cause);
        assertThat(exception.reason().tag()).isEqualTo("connection");
    }

    @Test
    void reasonsHaveTags() {
        assertThat(Arrays.stream(BackendException.Reason.values()).map(BackendException.Reason::tag))
                .containsExactly(
                        "not-ready", "timeout", "connection", "backend-error", "foreign-state", "full", "breaker-open");
    }

    @Test
    void exceptionsHaveNoStackTraceAndNoSuppressedExceptions() {
        for (Exception exception : List.of(
                new RateLimitExceededException(rejected),
                new RateLimitUnavailableException("timeout"),
                new BackendException(BackendException.Reason.TIMEOUT, "late", null))) {
            exception.addSuppressed(new IllegalStateException());
            assertThat(exception.getStackTrace()).as("%s", exception).isEmpty();
            assertThat(exception.getSuppressed()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {RateLimitExceededException.class, RateLimitUnavailableException.class})
    void exceptionsRollBackTransactions(Class<?> exception) {
        ApplicationException annotation = exception.getAnnotation(ApplicationException.class);
        assertThat(annotation).isNotNull();
        assertThat(annotation.rollback()).isTrue();
    }
}
