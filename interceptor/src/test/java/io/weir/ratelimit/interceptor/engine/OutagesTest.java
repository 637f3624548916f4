// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.BackendStateChanged;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutagesTest {
    private static final String AWAY =
            "WARNING WEIR-301 the rate limit store redisson does not decide (timeout: it is away); "
                    + "until it does, each policy's on-failure decides";

    private final LogCapture log = new LogCapture();
    private final List<BackendStateChanged> changes = new ArrayList<>();
    private final List<Reason> errors = new ArrayList<>();
    private final StoreListener heard = new StoreListener() {
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
    private final Outages outages = new Outages("redisson", nanos::get, List.of(heard));

    @AfterEach
    void closeLog() {
        log.close();
    }

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            outages.failed(FakeBackend.down(Reason.TIMEOUT));
        }
    }

    @Test
    void aStoreThatAnswersIsNotWorthALine() {
        for (int i = 0; i < 1_000; i++) {
            outages.answered();
        }
        assertThat(log.lines()).isEmpty();
        assertThat(outages.away()).isFalse();
        assertThat(outages.degradedDecisions()).isZero();
    }

    @Test
    void anOutageIsSaidOnceAndItsEndOnce() {
        fail(1_000);
        assertThat(outages.away()).isTrue();
        assertThat(log.lines()).containsExactly(AWAY);
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(61_999));
        outages.answered();
        outages.answered();
        assertThat(outages.away()).isFalse();
        assertThat(log.lines())
                .containsExactly(
                        AWAY,
                        "INFO WEIR-302 the rate limit store redisson answers again after 61 s; 1000 decisions were taken without it:"
                                + " timeout 1000");
    }

    @Test
    void aStoreThatAnswersNowAndThenIsStillAway() {
        for (int i = 0; i < 10_000; i++) {
            fail(1);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1) - 1);
            outages.answered();
        }
        assertThat(log.lines()).containsExactly(AWAY);
        nanos.addAndGet(1);
        outages.answered();
        assertThat(log.lines()).hasSize(2).last().asString().contains("10000 decisions");
    }

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"FOREIGN_STATE", "FULL"})
    void aStoreThatFailsForSomeKeysOnlyIsNotSaidToBeBackBetweenThem(Reason reason) {
        for (int i = 0; i < 100; i++) {
            outages.failed(FakeBackend.down(reason));
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
            outages.answered();
        }
        assertThat(log.lines()).hasSize(1);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        outages.answered();
        assertThat(log.lines()).hasSize(2).last().asString().contains("100 decisions");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 999_999_999})
    void anOutageDoesNotEndWithinASecondOfAFailure(long quietNanos) {
        fail(1);
        nanos.addAndGet(quietNanos);
        outages.answered();
        assertThat(outages.away()).isTrue();
    }

    @Test
    void eachOutageCountsItsOwnDecisions() {
        fail(3);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        outages.answered();
        fail(4);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
        outages.answered();
        assertThat(outages.degradedDecisions()).isEqualTo(7);
        assertThat(log.lines()).hasSize(4);
        assertThat(log.lines().get(1)).contains("after 2 s; 3 decisions");
        assertThat(log.lines().get(3)).contains("after 5 s; 4 decisions");
    }

    @Test
    void listenersHearOfEachChangeOnceAndOfEachError() {
        fail(3);
        outages.errorOf(FakeBackend.down(Reason.CONNECTION));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        outages.answered();
        outages.answered();
        assertThat(changes).as("told by who is outside of locks").isEmpty();
        outages.tellChanges();
        outages.tellChanges();
        assertThat(changes)
                .containsExactly(
                        new BackendStateChanged("redisson", false, "timeout"),
                        new BackendStateChanged("redisson", true, ""));
        assertThat(errors).containsExactly(Reason.TIMEOUT, Reason.TIMEOUT, Reason.TIMEOUT, Reason.CONNECTION);
        assertThat(outages.degradedDecisions()).isEqualTo(3);
    }

    /** The first listener is slow to hear that the store is away; meanwhile it comes back. */
    @Test
    void changesAreHeardInTheOrderInWhichTheyCame() {
        List<Boolean> second = new ArrayList<>();
        Outages[] slow = new Outages[1];
        slow[0] = new Outages(
                "redisson",
                nanos::get,
                List.of(
                        new StoreListener() {
                            @Override
                            public void onChange(BackendStateChanged change) {
                                if (!change.available()) {
                                    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
                                    CompletableFuture.runAsync(() -> {
                                                slow[0].answered();
                                                slow[0].tellChanges();
                                            })
                                            .join();
                                }
                            }
                        },
                        new StoreListener() {
                            @Override
                            public void onChange(BackendStateChanged change) {
                                second.add(change.available());
                            }
                        }));
        slow[0].failed(FakeBackend.down(Reason.TIMEOUT));
        slow[0].tellChanges();
        assertThat(second).containsExactly(false, true);
    }

    @Test
    void theEndOfAnOutageTellsWhyDecisionsWereTakenWithoutTheStore() {
        fail(2);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
        outages.answered();
        fail(5);
        for (int i = 0; i < 812; i++) {
            outages.failed(FakeBackend.down(Reason.BREAKER_OPEN));
        }
        outages.notAsked(FakeBackend.down(Reason.TIMEOUT));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
        outages.answered();
        assertThat(log.lines())
                .last()
                .asString()
                .endsWith("after 31 s; 818 decisions were taken without it: timeout 6, breaker-open 812");
        assertThat(outages.degradedDecisions()).isEqualTo(820);
    }

    @Test
    void aStoreThatIsNotAskedHasMadeNoErrorAndIsAwayAllTheSame() {
        outages.failed(FakeBackend.down(Reason.BREAKER_OPEN));
        assertThat(outages.away()).isTrue();
        assertThat(outages.degradedDecisions()).isEqualTo(1);
        assertThat(errors).isEmpty();
        outages.errorOf(FakeBackend.down(Reason.BREAKER_OPEN));
        assertThat(errors).as("of a give-back, say, which is lost").containsExactly(Reason.BREAKER_OPEN);
    }

    @Test
    void anErrorThatIsNoDecisionIsNoOutage() {
        outages.errorOf(FakeBackend.down(Reason.TIMEOUT));
        assertThat(outages.away()).isFalse();
        assertThat(changes).isEmpty();
    }

    @Test
    void aClockThatWrapsAroundChangesNothing() {
        nanos.set(Long.MAX_VALUE - 5);
        fail(1);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
        outages.answered();
        assertThat(log.lines()).last().asString().contains("after 3 s");
    }

    @Test
    void theFirstReasonIsNamedWhateverItContains() {
        outages.failed(new BackendException(Reason.REFUSED, "{0} 'quoted' {", null));
        outages.failed(FakeBackend.down(Reason.TIMEOUT));
        assertThat(log.lines()).singleElement().asString().contains("(refused: {0} 'quoted' {)");
    }
}
