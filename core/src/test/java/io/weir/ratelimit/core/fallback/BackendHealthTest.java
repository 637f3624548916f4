// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.fallback.BackendHealth.Report;
import io.weir.ratelimit.core.fallback.BackendHealth.State;
import io.weir.ratelimit.core.local.DisabledBackend;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendHealthTest {
    private static final String PROBE = "health health 1";

    private final LogCapture log = new LogCapture();
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final StatusBackend backend = new StatusBackend();

    private static final class StatusBackend extends FakeBackend {
        private RateLimitBackend.Status status = RateLimitBackend.Status.READY;

        @Override
        public RateLimitBackend.Status status() {
            return status;
        }

        void openBreaker(Duration probeAfter) {
            status = new RateLimitBackend.Status(true, true, probeAfter);
        }
    }

    private final BackendHealth informing = health(false);
    private final BackendHealth health = health(true);

    private BackendHealth health(boolean failsWhenDegraded) {
        return new BackendHealth(backend, true, failsWhenDegraded, nanos::get, List.of());
    }

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private void fail(Reason reason) {
        informing.decisionFailed(FakeBackend.down(reason));
        health.decisionFailed(FakeBackend.down(reason));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAvailableBackendIsUpAndIsNotProbed(boolean failsWhenDegraded) {
        assertThat(health(failsWhenDegraded).readiness())
                .isEqualTo(new Report("fake", State.UP, false, Duration.ZERO, Optional.empty(), 0, 0, true, 0));
        assertThat(backend.calls).isEmpty();
    }

    @Test
    void anOutageIsInformationByDefault() {
        fail(Reason.TIMEOUT);
        pass(2_500);
        backend.openBreaker(Duration.ofSeconds(7));
        assertThat(informing.readiness())
                .isEqualTo(new Report(
                        "fake", State.DEGRADED, true, Duration.ofSeconds(7), Optional.of("timeout"), 2, 1, true, 0));
        backend.openBreaker(Duration.ZERO);
        assertThat(informing.readiness().ready()).isTrue();
        assertThat(backend.calls).isEmpty();
    }

    @Test
    void anOpenBreakerIsNotTheLastFailure() {
        fail(Reason.TIMEOUT);
        pass(1_000);
        fail(Reason.BREAKER_OPEN);
        Report report = informing.report();
        assertThat(report.lastFailure()).contains("timeout");
        assertThat(report.lastFailureSecondsAgo()).isEqualTo(1);
        assertThat(report.degradedDecisions()).isEqualTo(2);
    }

    @Test
    void aProbeAgainstAnOpenBreakerIsNotTheLastFailure() {
        fail(Reason.CONNECTION);
        backend.failure = FakeBackend.down(Reason.BREAKER_OPEN);
        assertThat(health.readiness().lastFailure()).contains("connection");
        assertThat(backend.calls).containsExactly(PROBE);
    }

    @Test
    void foreignStateUnderTheKeyOfTheProbeEndsAnOutage() {
        fail(Reason.TIMEOUT);
        pass(1_000);
        backend.failure = FakeBackend.down(Reason.FOREIGN_STATE);
        assertThat(health.readiness().ready()).isTrue();
        assertThat(backend.calls).containsExactly(PROBE);
    }

    @Test
    void aFailureThatOverlapsTheEndOfAnOutageDoesNotKeepAnInstanceFromReadiness() {
        Handler endOfOutage = new Handler() {
            @Override
            public void publish(LogRecord record) {
                if (String.valueOf(record.getMessage()).contains("WEIR-301")) {
                    pass(1_000);
                    health.answered();
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.weir.ratelimit");
        logger.addHandler(endOfOutage);
        try {
            health.decisionFailed(FakeBackend.down(Reason.TIMEOUT));
        } finally {
            logger.removeHandler(endOfOutage);
        }
        assertThat(health.isUnavailable()).isFalse();
        pass(1_000);
        assertThat(health.readiness().ready()).isTrue();
    }

    @Test
    void aBackendThatWasNeverReadyIsConnectingAndIsNotProbed() {
        backend.status = new RateLimitBackend.Status(false, false, Duration.ZERO);
        assertThat(informing.readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.CONNECTING);
            assertThat(report.ready()).isTrue();
        });
        fail(Reason.NOT_READY);
        assertThat(health.readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.CONNECTING);
            assertThat(report.ready()).isFalse();
        });
        assertThat(backend.calls).isEmpty();
    }

    @Test
    void anInstanceWithoutLimitsIsReady() {
        BackendHealth off = new BackendHealth(new DisabledBackend(), false, true, nanos::get, List.of());
        assertThat(off.readiness())
                .isEqualTo(new Report("off", State.OFF, false, Duration.ZERO, Optional.empty(), 0, 0, true, 0));
    }

    @Test
    void doesNotProbeBeforeTheBreakerLetsACallThrough() {
        fail(Reason.TIMEOUT);
        backend.openBreaker(Duration.ofMillis(1));
        assertThat(health.readiness().ready()).isFalse();
        assertThat(backend.calls).isEmpty();
    }

    /** Clients do not call an instance that is not ready. */
    @Test
    void aProbeFindsABackendAvailableAgain() {
        health.decisionFailed(FakeBackend.down(Reason.TIMEOUT));
        backend.openBreaker(Duration.ZERO);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        pass(30_000);
        assertThat(health.readiness().ready()).isFalse();
        assertThat(backend.calls).containsExactly(PROBE);

        backend.failure = null;
        backend.status = RateLimitBackend.Status.READY; // a real backend closes its breaker on the probe
        pass(1_000);
        assertThat(health.readiness())
                .satisfies(report -> assertThat(report.ready()).isTrue())
                .satisfies(report -> assertThat(report.state()).isEqualTo(State.UP));
        assertThat(backend.calls).containsExactly(PROBE, PROBE);
        assertThat(health.report().degradedDecisions())
                .as("a probe is not a decision")
                .isEqualTo(1);
        assertThat(log.lines()).hasSize(2).last().asString().startsWith("INFO WEIR-302");

        health.readiness();
        assertThat(backend.calls).as("an available backend is not probed").hasSize(2);
    }

    @Test
    void probesOnceASecond() {
        fail(Reason.CONNECTION);
        backend.failure = FakeBackend.down(Reason.CONNECTION);
        for (int i = 0; i < 100; i++) {
            assertThat(health.readiness().ready()).isFalse();
            pass(100);
        }
        assertThat(backend.calls).hasSize(10);
    }

    @Test
    void aReportDoesNotCallTheBackend() {
        fail(Reason.CONNECTION);
        pass(60_000);
        health.report();
        assertThat(backend.calls).isEmpty();
    }

    @Test
    void foreignStateUnderAKeyLeavesTheBackendUp() {
        fail(Reason.FOREIGN_STATE);
        assertThat(health.readiness())
                .isEqualTo(new Report("fake", State.UP, false, Duration.ZERO, Optional.empty(), 0, 1, true, 0));
        assertThat(backend.calls).isEmpty();
        fail(Reason.TIMEOUT);
        fail(Reason.FOREIGN_STATE);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(health.readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.DEGRADED);
            assertThat(report.lastFailure()).contains("timeout");
            assertThat(report.ready()).isFalse();
        });
    }

    /** The key of one caller must not take the instance from all others. */
    @Test
    void anInstanceWhoseBackendFailsForSomeKeysIsReady() {
        Reason reason = Reason.FULL;
        fail(reason);
        assertThat(health.readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.DEGRADED);
            assertThat(report.ready()).isTrue();
        });
        assertThat(backend.calls).isEmpty();
        fail(Reason.TIMEOUT);
        fail(reason);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(health.readiness().ready()).isFalse();
        backend.failure = null;
        pass(1_000);
        fail(reason);
        assertThat(health.readiness().ready()).isTrue();
    }
}
