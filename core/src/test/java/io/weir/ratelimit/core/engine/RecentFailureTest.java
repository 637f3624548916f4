// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static io.weir.ratelimit.core.engine.Fixtures.withFallback;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A request waits once for a backend that does not answer, whatever the number of its decisions. */
class RecentFailureTest {
    private static final long DEADLINE_MICROS = 100_000;
    private static final Policy OPEN = policy("open", "ip");
    private static final Policy CLOSED = policy("closed", "ip", 1, FailureMode.CLOSED);
    private static final Policy PACED = Policy.builder(
                    new PolicyLimits(
                            "paced",
                            List.of(Limit.of(Algorithm.LEAKY_BUCKET, 1, Duration.ofSeconds(1))
                                    .withMaxWait(Duration.ofSeconds(5)))),
                    KeyExpression.parse("ip", new KeyTerms(32, 64)))
            .maxWaiting(1)
            .build();
    private static final TestCall CALL = TestCall.fromAddress("203.0.113.7");

    private final ManualTime time = new ManualTime();
    private final ManualSleeper sleeper = new ManualSleeper(time);
    private final List<DecisionEvent> events = new ArrayList<>();
    private final List<Reason> errors = new ArrayList<>();
    /** A backend that takes its whole deadline to fail. */
    private final class Silent extends FakeBackend {
        private boolean decides;
        private Runnable meanwhile = () -> {};

        @Override
        public Decision acquire(List<Charge> charges) {
            if (decides) {
                calls.add("answered");
                Runnable once = meanwhile;
                meanwhile = () -> {};
                once.run();
                return new Decision.Allowed(List.of(), new Receipt() {}, 1_000_000);
            }
            if (failure != null) {
                time.advanceMicros(DEADLINE_MICROS);
            }
            return super.acquire(charges);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            time.advanceMicros(DEADLINE_MICROS);
            return super.refund(receipt);
        }
    }

    private final Silent backend = new Silent();
    private final BackendHealth health =
            new BackendHealth(backend, true, false, () -> time.micros() * 1_000, List.of(new BackendStateListener() {
                @Override
                public void onError(BackendException failure) {
                    errors.add(failure.reason());
                }
            }));
    private final WaitBulkhead threads = WaitBulkhead.ofThreads();
    private final WaitBulkhead withoutThreads = new WaitBulkhead(policy -> 1);
    private final RateLimitEngine engine =
            engine(withFallback(backend, health), sleeper, threads, withoutThreads, events::add);
    private final RequestState request = new RequestState(CALL);

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FOREIGN_STATE", "FULL"})
    void aRequestDoesNotCallABackendThatHasJustFailed(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        long start = time.micros();
        engine.decide(binding(1, OPEN), CALL, request);
        Decision later = engine.decide(binding(1, CLOSED), CALL, request);
        assertThat(later).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, reason.tag()));
        assertThat(time.micros() - start).isEqualTo(DEADLINE_MICROS);
        assertThat(backend.calls).containsExactly("open i.203.0.113.7 1");
        assertThat(events)
                .hasSize(2)
                .last()
                .extracting(DecisionEvent::durationNanos)
                .isEqualTo(0L);
        assertThat(health.report().degradedDecisions()).isEqualTo(2);
        assertThat(errors).hasSize(reason == Reason.BREAKER_OPEN ? 0 : 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"FOREIGN_STATE", "FULL"})
    void aFailureOfSomeKeysDoesNotAffectOtherKeys(Reason reason) {
        backend.failure = FakeBackend.down(reason);
        engine.decide(binding(1, OPEN), CALL, request);
        backend.failure = null;
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Allowed.class);
    }

    @Test
    void anotherRequestCallsTheBackend() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, OPEN), CALL, request);
        engine.decide(binding(1, OPEN), CALL, new RequestState(CALL));
        assertThat(backend.calls).hasSize(2);
    }

    @Test
    void aLongRequestCallsTheBackendAfterASecond() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        engine.decide(binding(1, OPEN), CALL, request);
        backend.failure = null;
        time.advanceMicros(999_999);
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Degraded.class);
        time.advanceMicros(1);
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Allowed.class);
    }

    /** Fills the bulkhead with another call while the backend decides this one. The refund then fails. */
    private void fill(WaitBulkhead bulkhead) {
        backend.decides = true;
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        backend.meanwhile = () -> bulkhead.tryEnter(List.of(PACED));
    }

    @Test
    void doesNotCallABackendThatFailedToRefund() {
        fill(threads);
        assertThat(engine.decide(binding(1, PACED), CALL, null))
                .isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(backend.calls).hasSize(2).startsWith("answered");
    }

    @Test
    void anAsynchronousCallDoesNotCallABackendThatFailedToRefund() {
        fill(withoutThreads);
        CompletableFuture<Decision> decision =
                engine.decideAsync(binding(1, PACED), Identity.address("203.0.113.7"), Runnable::run);
        assertThat(decision).isCompletedWithValue(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(backend.calls).hasSize(2).startsWith("answered");
    }

    @Test
    void aWaitingMethodDoesNotCallABackendThatHasJustFailed() {
        backend.decides = true;
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        fill(withoutThreads);
        assertThat(engine.decideLater(binding(1, PACED), CALL, request, () -> Runnable::run))
                .isCompletedWithValue(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(engine.decideLater(binding(1, CLOSED), CALL, request, () -> Runnable::run))
                .isCompletedWithValueMatching(later -> later instanceof Decision.Degraded);
        assertThat(backend.calls).hasSize(2).startsWith("answered");
    }

    @Test
    void anInterruptedCallDoesNotCallABackendThatFailedToRefund() {
        backend.decides = true;
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        Thread.currentThread().interrupt();
        Decision decision = engine.decide(binding(1, PACED), CALL, request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(decision).isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(backend.calls).hasSize(2).startsWith("answered");
    }

    @Test
    void aLaterDecisionDoesNotCallABackendThatFailedToRefund() {
        backend.decides = true;
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        Thread.currentThread().interrupt();
        engine.decide(binding(1, PACED), CALL, request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(engine.decide(binding(1, CLOSED), CALL, request)).isInstanceOf(Decision.Degraded.class);
        assertThat(backend.calls).hasSize(2);
    }
}
