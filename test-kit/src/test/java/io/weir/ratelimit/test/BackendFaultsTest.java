// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BackendFaultsTest {
    private final VirtualClock clock = new VirtualClock(Instant.parse("2026-01-01T00:00:00Z"));
    private final BackendFaults faults = new BackendFaults(clock);

    @BeforeEach
    void moveTheClockWithCalls() {
        clock.testThread(Thread.currentThread());
        faults.deadline(Duration.ofMillis(50));
    }

    private void assertFails(Reason reason, Duration retryAfter) {
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(faults::apply)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(reason))
                .satisfies(e -> assertThat(e.retryAfter()).isEqualTo(retryAfter));
    }

    private void openBreaker() {
        faults.fail();
        for (int i = 0; i < 5; i++) {
            assertFails(Reason.CONNECTION, Duration.ZERO);
        }
    }

    @Test
    void opensTheBreakerForAnotherSecondAfterEachFailedProbe() {
        openBreaker();
        for (int probe = 0; probe < 10; probe++) {
            assertFails(Reason.BREAKER_OPEN, Duration.ofSeconds(1));
            clock.advance(Duration.ofMillis(400));
            assertFails(Reason.BREAKER_OPEN, Duration.ofMillis(600));
            clock.advance(Duration.ofMillis(600));
        }
    }

    @Test
    void closesTheBreakerAfterASuccessfulProbe() {
        openBreaker();
        faults.recover();
        assertThat(faults.status(RateLimitBackend.Status.READY).breakerOpen()).isTrue();
        assertFails(Reason.BREAKER_OPEN, Duration.ofSeconds(1));
        clock.advance(Duration.ofSeconds(1));
        faults.apply();
        assertThat(faults.status(RateLimitBackend.Status.READY)).isEqualTo(RateLimitBackend.Status.READY);
        openBreaker();
        assertFails(Reason.BREAKER_OPEN, Duration.ofSeconds(1));
    }

    @Test
    void aSuccessBetweenFailuresKeepsTheBreakerClosed() {
        for (int i = 0; i < 10; i++) {
            faults.fail();
            assertFails(Reason.CONNECTION, Duration.ZERO);
            faults.recover();
            faults.apply();
        }
    }

    @Test
    void aDelayTakesTime() {
        faults.delay(Duration.ofMillis(50));
        faults.apply();
        assertThat(clock.nanos()).isEqualTo(Duration.ofMillis(50).toNanos());
        assertThatIllegalArgumentException().isThrownBy(() -> faults.delay(Duration.ofNanos(-1)));
    }

    @Test
    void aLongerDelayEndsAtTheDeadline() {
        faults.delay(Duration.ofMillis(51));
        assertFails(Reason.TIMEOUT, Duration.ZERO);
        assertThat(clock.nanos()).isEqualTo(Duration.ofMillis(50).toNanos());
    }

    @Test
    void aCallWithoutAThreadEndsWithTheClock() {
        faults.delay(Duration.ofSeconds(1));
        CompletableFuture<Void> call = faults.applyAsync().toCompletableFuture();
        assertThat(call).isNotDone();
        clock.advance(Duration.ofMillis(50));
        assertThat(call)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        BackendException.class, e -> assertThat(e.reason()).isEqualTo(Reason.TIMEOUT));
    }

    @Test
    void aFailedCallWithoutAThreadFails() {
        faults.fail();
        CompletableFuture<Void> call = faults.applyAsync().toCompletableFuture();
        assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join);
    }
}
