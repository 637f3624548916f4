// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The begin and the end of outages. */
class BackendOutageTest {
    private static final String BEGIN = "WARNING WEIR-301 Backend fake is unavailable (timeout: it is unavailable). "
            + "Each policy's on-failure mode applies until it recovers.";

    private final LogCapture log = new LogCapture();
    private final List<BackendStateChanged> changes = new ArrayList<>();
    private final List<Reason> errors = new ArrayList<>();
    private final BackendStateListener listener = new BackendStateListener() {
        @Override
        public void onError(BackendException failure) {
            errors.add(failure.reason());
        }

        @Override
        public void onChange(BackendStateChanged change) {
            changes.add(change);
        }
    };
    private final AtomicLong nanos = new AtomicLong(-5);
    private final BackendHealth health = health(List.of(listener));

    private BackendHealth health(List<BackendStateListener> listeners) {
        return new BackendHealth(new FakeBackend(), true, false, nanos::get, listeners);
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            health.decisionFailed(FakeBackend.down(Reason.TIMEOUT));
        }
    }

    @Test
    void logsNothingForAnAvailableBackend() {
        for (int i = 0; i < 1_000; i++) {
            health.answered();
        }
        assertThat(log.lines()).isEmpty();
        assertThat(health.isUnavailable()).isFalse();
        assertThat(health.report().degradedDecisions()).isZero();
    }

    @Test
    void logsTheBeginAndTheEndOfAnOutageOnce() {
        fail(1_000);
        assertThat(health.isUnavailable()).isTrue();
        assertThat(log.lines()).containsExactly(BEGIN);
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(61_999));
        health.answered();
        health.answered();
        assertThat(health.isUnavailable()).isFalse();
        assertThat(log.lines())
                .containsExactly(
                        BEGIN,
                        "INFO WEIR-302 Backend fake is available again after 61 s. Decisions without it: 1000 (timeout 1000).");
    }

    @Test
    void occasionalAnswersDoNotEndAnOutage() {
        for (int i = 0; i < 10_000; i++) {
            fail(1);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1) - 1);
            health.answered();
        }
        assertThat(log.lines()).containsExactly(BEGIN);
        nanos.addAndGet(1);
        health.answered();
        assertThat(log.lines()).hasSize(2).last().asString().contains("without it: 10000 (");
    }

    @Test
    void foreignStateUnderAKeyIsNoOutageAndHidesNone() {
        for (int i = 0; i < 100; i++) {
            health.decisionFailed(FakeBackend.down(Reason.FOREIGN_STATE));
        }
        health.notifyChanges();
        assertThat(health.isUnavailable()).isFalse();
        assertThat(log.lines()).isEmpty();
        assertThat(changes).isEmpty();
        assertThat(errors).hasSize(100).containsOnly(Reason.FOREIGN_STATE);
        assertThat(health.report().degradedDecisions()).isEqualTo(100);
        fail(1);
        assertThat(log.lines()).containsExactly(BEGIN);
        health.decisionFailed(FakeBackend.down(Reason.FOREIGN_STATE));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        health.decisionFailed(FakeBackend.down(Reason.FOREIGN_STATE));
        health.answered();
        assertThat(health.isUnavailable()).isFalse();
    }

    @Test
    void anOutageOfSomeKeysEndsAfterAQuietMinute() {
        for (int i = 0; i < 100; i++) {
            health.decisionFailed(FakeBackend.down(Reason.FULL));
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
            health.answered();
        }
        assertThat(log.lines()).hasSize(1);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        health.answered();
        assertThat(log.lines()).hasSize(2).last().asString().contains("without it: 100 (");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 999_999_999})
    void anOutageLastsAtLeastASecondAfterAFailure(long quietNanos) {
        fail(1);
        nanos.addAndGet(quietNanos);
        health.answered();
        assertThat(health.isUnavailable()).isTrue();
    }

    @Test
    void countsTheDecisionsOfEachOutage() {
        fail(3);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        health.answered();
        fail(4);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
        health.answered();
        assertThat(health.report().degradedDecisions()).isEqualTo(7);
        assertThat(log.lines()).hasSize(4);
        assertThat(log.lines().get(1)).contains("after 2 s. Decisions without it: 3 ");
        assertThat(log.lines().get(3)).contains("after 5 s. Decisions without it: 4 ");
    }

    @Test
    void notifiesListenersOfEachChangeAndEachError() {
        fail(3);
        health.operationFailed(FakeBackend.down(Reason.CONNECTION));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        health.answered();
        health.answered();
        assertThat(changes).as("not on the thread of the failure").isEmpty();
        health.notifyChanges();
        health.notifyChanges();
        assertThat(changes)
                .containsExactly(
                        new BackendStateChanged("fake", false, "timeout"), new BackendStateChanged("fake", true, ""));
        assertThat(errors).containsExactly(Reason.TIMEOUT, Reason.TIMEOUT, Reason.TIMEOUT, Reason.CONNECTION);
        assertThat(health.report().degradedDecisions()).isEqualTo(3);
    }

    /** The backend becomes available while the first listener is notified that it is unavailable. */
    @Test
    void notifiesListenersOfChangesInOrder() {
        List<Boolean> second = new ArrayList<>();
        BackendHealth[] slow = new BackendHealth[1];
        slow[0] = health(List.of(
                new BackendStateListener() {
                    @Override
                    public void onChange(BackendStateChanged change) {
                        if (!change.available()) {
                            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
                            CompletableFuture.runAsync(() -> {
                                        slow[0].answered();
                                        slow[0].notifyChanges();
                                    })
                                    .join();
                        }
                    }
                },
                new BackendStateListener() {
                    @Override
                    public void onChange(BackendStateChanged change) {
                        second.add(change.available());
                    }
                }));
        slow[0].decisionFailed(FakeBackend.down(Reason.TIMEOUT));
        slow[0].notifyChanges();
        assertThat(second).containsExactly(false, true);
    }

    @Test
    void logsTheReasonsOfDegradedDecisionsAtTheEnd() {
        fail(2);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        health.answered();
        fail(5);
        for (int i = 0; i < 812; i++) {
            health.decisionFailed(FakeBackend.down(Reason.BREAKER_OPEN));
        }
        health.decidedWithoutBackend(FakeBackend.down(Reason.TIMEOUT));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
        health.answered();
        assertThat(log.lines())
                .last()
                .asString()
                .endsWith("after 31 s. Decisions without it: 818 (timeout 6, breaker-open 812).");
        assertThat(health.report().degradedDecisions()).isEqualTo(820);
    }

    @Test
    void anOpenBreakerIsAnOutageWithoutAnError() {
        health.decisionFailed(FakeBackend.down(Reason.BREAKER_OPEN));
        assertThat(health.isUnavailable()).isTrue();
        assertThat(health.report().degradedDecisions()).isEqualTo(1);
        assertThat(errors).isEmpty();
        health.operationFailed(FakeBackend.down(Reason.BREAKER_OPEN));
        assertThat(errors).as("such as a refund").containsExactly(Reason.BREAKER_OPEN);
    }

    @Test
    void aFailedOperationIsNotAnOutage() {
        health.operationFailed(FakeBackend.down(Reason.TIMEOUT));
        assertThat(health.isUnavailable()).isFalse();
        assertThat(changes).isEmpty();
    }

    @Test
    void toleratesAClockOverflow() {
        nanos.set(Long.MAX_VALUE - 5);
        fail(1);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
        health.answered();
        assertThat(log.lines()).last().asString().contains("after 3 s");
    }

    @Test
    void logsTheFirstFailureWithAnyText() {
        health.decisionFailed(new BackendException(Reason.BACKEND_ERROR, "{0} 'quoted' {", null));
        health.decisionFailed(FakeBackend.down(Reason.TIMEOUT));
        assertThat(log.lines()).singleElement().asString().contains("(backend-error: {0} 'quoted' {)");
    }
}
