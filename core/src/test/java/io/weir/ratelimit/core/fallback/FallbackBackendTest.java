// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.health;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static io.weir.ratelimit.core.engine.Fixtures.withFallback;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackBackendTest {
    private final FakeBackend backend = new FakeBackend();
    private final FallbackBackend fallback = withFallback(backend, health(backend));

    private boolean isAllowedInAnOutage(Binding binding, Charge... charges) {
        return fallback.acquire(binding, List.of(charges)).decision().allowed()
                && fallback.acquireAsync(binding, List.of(charges))
                        .toCompletableFuture()
                        .join()
                        .decision()
                        .allowed();
    }

    @Test
    void aShadowPolicyRejectsNoCallInAnOutage() {
        Policy closed = policy("closed", "ip", 1, FailureMode.CLOSED);
        Policy open = policy("open", "ip", 1, FailureMode.OPEN);
        Charge ofClosed = new Charge(closed.limits(), "i.203.0.113.7", 1);
        Charge ofOpen = new Charge(open.limits(), "i.203.0.113.7", 1);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(isAllowedInAnOutage(binding(1, closed, open), ofClosed.asShadow(), ofOpen))
                .isTrue();
        assertThat(isAllowedInAnOutage(binding(1, closed), ofClosed.asShadow())).isTrue();
        assertThat(isAllowedInAnOutage(binding(1, closed, open), ofClosed, ofOpen.asShadow()))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void anEarlierRejectionHoldsInEachFailureMode(FailureMode mode) {
        Policy policy = policy("api", "ip", 1, mode);
        List<Charge> charges = List.of(new Charge(policy.limits(), "i.203.0.113.7", 1));
        BackendException down = FakeBackend.down(Reason.TIMEOUT);
        backend.failure = down;
        backend.hasRejected = true;
        assertThat(fallback.acquire(binding(1, policy), charges).decision()).isInstanceOf(Decision.Rejected.class);
        assertThat(fallback.acquireAsync(binding(1, policy), charges)
                        .toCompletableFuture()
                        .join()
                        .decision())
                .isInstanceOf(Decision.Rejected.class);
        assertThat(fallback.decideWithoutBackend(binding(1, policy), charges, down)
                        .decision())
                .isInstanceOf(Decision.Rejected.class);
        assertThat(fallback.acquire(binding(1, policy), charges).failure()).isSameAs(down);
    }

    @Test
    void foreignStateReplacesAnEarlierRejection() {
        Policy policy = policy("api", "ip", 1, FailureMode.OPEN);
        List<Charge> charges = List.of(new Charge(policy.limits(), "i.203.0.113.7", 1));
        backend.failure = FakeBackend.down(Reason.FOREIGN_STATE);
        backend.hasRejected = true;
        assertThat(fallback.acquire(binding(1, policy), charges).decision()).isInstanceOf(Decision.Degraded.class);
    }

    @Test
    void aDecisionFromMemoryUnderAnOpenBreakerDoesNotEndAnOutage() {
        AtomicLong nanos = new AtomicLong();
        AtomicBoolean open = new AtomicBoolean(true);
        FakeBackend caching = new FakeBackend() {
            @Override
            public RateLimitBackend.Status status() {
                return new RateLimitBackend.Status(true, open.get(), Duration.ZERO);
            }
        };
        BackendHealth health = new BackendHealth(caching, true, false, nanos::get, List.of());
        FallbackBackend fallback = withFallback(caching, health);
        Policy policy = policy("open", "ip", 1, FailureMode.OPEN);
        List<Charge> charges = List.of(new Charge(policy.limits(), "i.203.0.113.7", 1));
        caching.failure = FakeBackend.down(Reason.BREAKER_OPEN);
        fallback.acquire(binding(1, policy), charges);
        caching.failure = null;
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(2));
        fallback.acquire(binding(1, policy), charges);
        fallback.acquireAsync(binding(1, policy), charges).toCompletableFuture().join();
        assertThat(health.isUnavailable()).isTrue();
        open.set(false);
        fallback.acquire(binding(1, policy), charges);
        assertThat(health.isUnavailable()).isFalse();
    }

    @Test
    void anAnswerToAnAsynchronousCallEndsAnOutage() {
        AtomicLong nanos = new AtomicLong();
        BackendHealth health = new BackendHealth(backend, true, false, nanos::get, List.of());
        FallbackBackend asynchronous = withFallback(backend, health);
        Policy policy = policy("open", "ip", 1, FailureMode.OPEN);
        List<Charge> charges = List.of(new Charge(policy.limits(), "i.203.0.113.7", 1));
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        asynchronous
                .acquireAsync(binding(1, policy), charges)
                .toCompletableFuture()
                .join();
        assertThat(health.isUnavailable()).isTrue();
        backend.failure = null;
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(2));
        asynchronous
                .acquireAsync(binding(1, policy), charges)
                .toCompletableFuture()
                .join();
        assertThat(health.isUnavailable()).isFalse();
    }

    @Test
    void aFailureOfAnythingButADecisionIsReported() {
        List<Reason> errors = new ArrayList<>();
        BackendStateListener listener = new BackendStateListener() {
            @Override
            public void onError(BackendException failure) {
                errors.add(failure.reason());
            }

            @Override
            public void onChange(BackendStateChanged change) {
                throw new AssertionError(change);
            }
        };
        BackendException down = FakeBackend.down(Reason.CONNECTION);
        FakeBackend failing = new FakeBackend() {
            @Override
            public CompletionStage<Void> refund(Receipt receipt) {
                return CompletableFuture.failedStage(down);
            }
        };
        FallbackBackend reporting =
                withFallback(failing, new BackendHealth(failing, true, false, System::nanoTime, List.of(listener)));
        assertThat(reporting.refund(Receipt.EMPTY)).isSameAs(down);
        assertThat(errors).containsExactly(Reason.CONNECTION);
        reporting.refundAsync(Receipt.EMPTY);
        assertThat(errors).hasSize(2);
        assertThatThrownBy(() -> reporting.callAndAwait(known -> CompletableFuture.failedStage(down)))
                .isInstanceOf(RateLimitUnavailableException.class);
        assertThat(errors).hasSize(3);
    }

    /** A backend of the application can break its contract. */
    @Test
    void aStageThatNeverCompletesHoldsNoThreadAfterTheDeadline() {
        FallbackBackend silent = new FallbackBackend(
                backend, new FailureModes(() -> 1, () -> backend), health(backend), Duration.ofMillis(1));
        assertThatThrownBy(() -> silent.callAndAwait(known -> new CompletableFuture<Void>()))
                .isInstanceOf(RateLimitUnavailableException.class)
                .hasMessageContaining("timeout");
    }

    @Test
    void anInterruptedThreadDoesNotWaitForAStage() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> fallback.callAndAwait(known -> new CompletableFuture<Void>()))
                .isInstanceOf(RateLimitUnavailableException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void theFailureOfAStageIsThatOfTheCall() {
        assertThatThrownBy(() -> fallback.callAndAwait(
                        known -> CompletableFuture.failedStage(FakeBackend.down(Reason.CONNECTION))))
                .isInstanceOfSatisfying(
                        RateLimitUnavailableException.class,
                        failure -> assertThat(failure.reason()).isEqualTo("connection"));
    }
}
