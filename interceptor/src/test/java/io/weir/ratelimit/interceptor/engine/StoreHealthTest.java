// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.engine.StoreHealth.Report;
import io.weir.ratelimit.interceptor.engine.StoreHealth.State;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendStatus;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreHealthTest {
    private static final String PROBE = "health health 1";

    private final LogCapture log = new LogCapture();
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final Store store = new Store();
    private final Outages outages = new Outages("fake", nanos::get, List.of());

    private static final class Store extends FakeBackend {
        private BackendStatus status = BackendStatus.READY;

        @Override
        public BackendStatus status() {
            return status;
        }

        void opensItsBreaker(Duration untilProbe) {
            status = new BackendStatus(true, true, untilProbe);
        }
    }

    private StoreHealth health(boolean failsWhenDegraded) {
        return new StoreHealth(store, outages, true, failsWhenDegraded, nanos::get);
    }

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStoreThatDecidesIsUpAndNotAskedForIt(boolean failsWhenDegraded) {
        assertThat(health(failsWhenDegraded).readiness())
                .isEqualTo(new Report("fake", State.UP, false, Duration.ZERO, Optional.empty(), 0, 0, true));
        assertThat(store.asked).isEmpty();
    }

    @Test
    void aStoreThatIsAwayIsInformationOnly() {
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        pass(2_500);
        store.opensItsBreaker(Duration.ofSeconds(7));
        assertThat(health(false).readiness())
                .isEqualTo(new Report(
                        "fake", State.DEGRADED, true, Duration.ofSeconds(7), Optional.of("timeout"), 2, 1, true));
        store.opensItsBreaker(Duration.ZERO);
        assertThat(health(false).readiness().ready()).isTrue();
        assertThat(store.asked).isEmpty();
    }

    @Test
    void theLastErrorIsOneOfTheStoreAndNotThatItIsNotAsked() {
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        pass(1_000);
        outages.failed(FakeBackend.down(Reason.BREAKER_OPEN));
        Report report = health(false).report();
        assertThat(report.lastFailure()).contains("timeout");
        assertThat(report.lastFailureSecondsAgo()).isEqualTo(1);
        assertThat(report.degradedDecisions()).isEqualTo(2);
    }

    @Test
    void aProbeThatWasNotMadeIsNoErrorOfTheStore() {
        outages.failed(FakeBackend.down(Reason.CONNECTION));
        store.failure = FakeBackend.down(Reason.BREAKER_OPEN);
        assertThat(health(true).readiness().lastFailure()).contains("connection");
        assertThat(store.asked).containsExactly(PROBE);
    }

    @Test
    void aStoreThatFindsSomethingStrangeUnderTheKeyOfTheProbeIsBack() {
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        pass(1_000);
        store.failure = FakeBackend.down(Reason.FOREIGN_STATE);
        assertThat(health(true).readiness().ready()).isTrue();
        assertThat(store.asked).containsExactly(PROBE);
    }

    @Test
    void aFailureThatIsStillBeingNotedWhenTheOutageEndsLeavesNoInstanceNotReady() {
        Handler heldUp = new Handler() {
            @Override
            public void publish(LogRecord record) {
                if (String.valueOf(record.getMessage()).contains("WEIR-301")) {
                    pass(1_000);
                    outages.answered();
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.weir.ratelimit");
        logger.addHandler(heldUp);
        try {
            outages.failed(FakeBackend.down(Reason.TIMEOUT));
        } finally {
            logger.removeHandler(heldUp);
        }
        assertThat(outages.away()).isFalse();
        pass(1_000);
        assertThat(health(true).readiness().ready()).isTrue();
    }

    @Test
    void aStoreThatWasNeverReadyIsConnectingAndNotAskedEither() {
        store.status = new BackendStatus(false, false, Duration.ZERO);
        assertThat(health(false).readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.CONNECTING);
            assertThat(report.ready()).isTrue();
        });
        outages.failed(FakeBackend.down(Reason.NOT_READY));
        assertThat(health(true).readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.CONNECTING);
            assertThat(report.ready()).isFalse();
        });
        assertThat(store.asked).isEmpty();
    }

    @Test
    void whereNothingIsLimitedTheInstanceIsReady() {
        StoreHealth off = new StoreHealth(new PassingBackend(), outages, false, true, nanos::get);
        assertThat(off.readiness())
                .isEqualTo(new Report("off", State.OFF, false, Duration.ZERO, Optional.empty(), 0, 0, true));
    }

    @Test
    void anOpenBreakerIsNotReadyAndNotAskedBeforeItsTime() {
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        store.opensItsBreaker(Duration.ofMillis(1));
        assertThat(health(true).readiness().ready()).isFalse();
        assertThat(store.asked).isEmpty();
    }

    /** Nobody calls an instance that is not ready, so nobody else would find out. */
    @Test
    void anInstanceWithoutCallersFindsOutThatItsStoreIsBack() {
        StoreHealth health = health(true);
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        store.opensItsBreaker(Duration.ZERO);
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        pass(30_000);
        assertThat(health.readiness().ready()).isFalse();
        assertThat(store.asked).containsExactly(PROBE);

        store.failure = null;
        store.status = BackendStatus.READY; // by the probe, in a real store
        pass(1_000);
        assertThat(health.readiness())
                .satisfies(report -> assertThat(report.ready()).isTrue())
                .satisfies(report -> assertThat(report.state()).isEqualTo(State.UP));
        assertThat(store.asked).containsExactly(PROBE, PROBE);
        assertThat(outages.degradedDecisions())
                .as("a probe decides about nobody")
                .isEqualTo(1);
        assertThat(log.lines()).hasSize(2).last().asString().startsWith("INFO WEIR-302");

        health.readiness();
        assertThat(store.asked).as("a store that is back is left alone").hasSize(2);
    }

    @Test
    void aStoreIsProbedOnceASecondHoweverOftenTheCheckIsMade() {
        StoreHealth health = health(true);
        outages.failed(FakeBackend.down(Reason.CONNECTION));
        store.failure = FakeBackend.down(Reason.CONNECTION);
        for (int i = 0; i < 100; i++) {
            assertThat(health.readiness().ready()).isFalse();
            pass(100);
        }
        assertThat(store.asked).hasSize(10);
    }

    @Test
    void theLivenessOfAnInstanceAsksNobody() {
        outages.failed(FakeBackend.down(Reason.CONNECTION));
        pass(60_000);
        health(true).report();
        assertThat(store.asked).isEmpty();
    }

    /** Or one caller's key would take the instance from all others. */
    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"FOREIGN_STATE", "FULL"})
    void aStoreThatFailsForSomeKeysOnlyIsReady(Reason reason) {
        outages.failed(FakeBackend.down(reason));
        assertThat(health(true).readiness()).satisfies(report -> {
            assertThat(report.state()).isEqualTo(State.DEGRADED);
            assertThat(report.ready()).isTrue();
        });
        assertThat(store.asked).isEmpty();
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        outages.failed(FakeBackend.down(reason));
        store.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(health(true).readiness().ready()).isFalse();
        store.failure = null;
        pass(1_000);
        outages.failed(FakeBackend.down(reason));
        assertThat(health(true).readiness().ready()).isTrue();
    }
}
