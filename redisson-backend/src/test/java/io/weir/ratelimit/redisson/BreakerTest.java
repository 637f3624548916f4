// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final BackendException TIMED_OUT = new BackendException(Reason.TIMEOUT, "timed out", null);
    private static final Duration DELAY = Duration.ofSeconds(30);

    /** A clock without an origin, which passes its greatest value in the test. */
    private long now = Long.MAX_VALUE - Duration.ofSeconds(1).toNanos();

    private final PlatformModel platform = new PlatformModel();
    private final List<Boolean> notified = new ArrayList<>();
    private final BackendListener listener = new BackendListener() {
        @Override
        public void onBatch(int requests, int waitingKeys) {}

        @Override
        public void onBreakerChange(boolean open) {
            notified.add(open);
        }
    };

    /** A breaker as MicroProfile Fault Tolerance specifies it, with a rolling window of calls. */
    private final class PlatformModel implements Breaker.Platform {
        private final ArrayDeque<Boolean> window = new ArrayDeque<>();
        private int volume = 5;
        private double ratio = 1;
        private int rejected;
        private int reports;
        private boolean open;
        private boolean halfOpen;
        private long openedAt;

        @Override
        public boolean report(@Nullable BackendException failure) {
            reports++;
            if (open && now - openedAt >= DELAY.toNanos()) {
                open = false;
                halfOpen = true;
            }
            if (open) {
                rejected++;
                return false;
            }
            if (halfOpen) {
                halfOpen = false;
                window.clear();
                open = failure != null;
                openedAt = now;
                return true;
            }
            window.add(failure != null);
            if (window.size() > volume) {
                window.remove();
            }
            if (window.size() == volume
                    && window.stream().filter(failed -> failed).count() >= ratio * volume) {
                open = true;
                openedAt = now;
            }
            return true;
        }
    }

    private Breaker breaker(Breaker.Platform platform) {
        return new Breaker(new BreakerSettings(true, 5, DELAY, 1, DELAY), platform, () -> now, listener);
    }

    private Breaker breakerWithShortDelays() {
        return new Breaker(BreakerSettings.DEFAULT, platform, () -> now, listener);
    }

    /** Fails a probe and returns the time until the next one. */
    private Duration afterFailedProbe(Breaker breaker) {
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(TIMED_OUT);
        return openFailure(breaker).retryAfter();
    }

    private void succeedInProbe(Breaker breaker) {
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void theDelayIsOneSecondHoweverManyProbesFail() {
        Breaker breaker = breakerWithShortDelays();
        fail(breaker, 5);
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(Duration.ofSeconds(1));
        for (int probe = 0; probe < 100; probe++) {
            assertThat(afterFailedProbe(breaker)).isEqualTo(Duration.ofSeconds(1));
        }
        assertThat(platform.open).as("it would stay open for 30 s").isFalse();
        succeedInProbe(breaker);
        assertThat(notified).containsExactly(true, false);
    }

    @Test
    void aSuccessfulProbeClosesTheBreakerWithoutACall() {
        Breaker breaker = breakerWithShortDelays();
        fail(breaker, 5);
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(breaker.isOpen()).isFalse();
        assertThat(notified).containsExactly(true, false);
        fail(breaker, 4);
        assertThat(platform.open)
                .as("the success is reported before the failures")
                .isFalse();
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void withThePlatformsDelayASuccessfulProbeLetsCallsPassAndTheirReportClosesTheBreaker() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        for (int probe = 0; probe < 1_000; probe++) {
            advance(breaker.probeAfter());
            assertThat(breaker.beginsProbe()).isTrue();
            breaker.recordProbe(TIMED_OUT);
        }
        int before = platform.reports;
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(breaker.rejectsCalls()).isFalse();
        assertThat(platform.reports).as("no thread of a caller").isEqualTo(before);
        breaker.reportOutcomes();
        assertThat(platform.reports - before).as("one failure and the success").isEqualTo(2);
    }

    @Test
    void startsTheProberWheneverADelayBegins() {
        Breaker breaker =
                new Breaker(new BreakerSettings(true, 5, DELAY, 2), Breaker.Platform.NONE, () -> now, listener);
        List<Duration> delays = new ArrayList<>();
        breaker.onDelay(() -> delays.add(breaker.probeAfter()));
        fail(breaker, 5);
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(TIMED_OUT);
        advance(breaker.probeAfter());
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
        assertThat(delays).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO);
    }

    @Test
    void theProberContinuesAfterAProbeThatThrows() {
        Breaker breaker =
                new Breaker(new BreakerSettings(true, 5, DELAY, 1), Breaker.Platform.NONE, () -> now, listener);
        ArrayDeque<Runnable> timers = new ArrayDeque<>();
        ArrayDeque<Supplier<CompletableFuture<?>>> probes = new ArrayDeque<>();
        probes.add(() -> {
            throw new IllegalStateException("the connection closes");
        });
        probes.add(() -> {
            throw new NoClassDefFoundError("com/example/Codec");
        });
        probes.add(() -> CompletableFuture.completedFuture(null));
        Prober prober = new Prober(
                breaker,
                (nanos, task) -> timers.add(task),
                () -> probes.remove().get());
        fail(breaker, 5);
        while (!timers.isEmpty()) {
            advance(breaker.probeAfter());
            timers.remove().run();
        }
        assertThat(probes).isEmpty();
        assertThat(isClosed(breaker)).isTrue();
        prober.close();
    }

    @Test
    void avoidsCallsWhileRedisFailsUntilAProbeSucceeds() {
        Breaker breaker = breakerWithShortDelays();
        assertThat(breaker.avoidsCalls()).isFalse();
        fail(breaker, 1);
        for (int tries = 0; tries < 3; tries++) {
            assertThat(breaker.avoidsCalls()).isFalse();
            assertThat(breaker.avoidsCalls()).isTrue();
            advance(Duration.ofMillis(100));
        }
        fail(breaker, 4);
        advance(Duration.ofSeconds(1).minusNanos(1));
        assertThat(breaker.avoidsCalls()).isTrue();
        advance(Duration.ofNanos(1));
        assertThat(breaker.avoidsCalls()).isTrue();
        succeedInProbe(breaker);
        assertThat(breaker.avoidsCalls()).isFalse();
    }

    @Test
    void aDelayBelowASecondStaysTheSame() {
        Duration delay = Duration.ofMillis(300);
        Breaker breaker =
                new Breaker(new BreakerSettings(true, 5, delay, 1), Breaker.Platform.NONE, () -> now, listener);
        fail(breaker, 5);
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(delay);
        assertThat(afterFailedProbe(breaker)).isEqualTo(delay);
    }

    @Test
    void theDelayDoesNotGrowWhileRedisFlaps() {
        Breaker breaker = breakerWithShortDelays();
        for (int turn = 0; turn < 60; turn++) {
            fail(breaker, 5);
            assertThat(openFailure(breaker).retryAfter()).isEqualTo(Duration.ofSeconds(1));
            succeedInProbe(breaker);
            advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void failuresInTheFirstSecondOfTheConnectionDoNotCount() {
        Breaker breaker = breakerWithShortDelays();
        breaker.connected();
        fail(breaker, 100);
        advance(Duration.ofSeconds(1).minusNanos(1));
        fail(breaker, 100);
        advance(Duration.ofNanos(1));
        fail(breaker, 4);
        assertThat(isClosed(breaker)).isTrue();
        assertThat(platform.reports).isEqualTo(4);
        fail(breaker, 1);
        openFailure(breaker);
    }

    private void advance(Duration time) {
        now += time.toNanos();
    }

    private static void fail(Breaker breaker, int times) {
        for (int i = 0; i < times; i++) {
            breaker.record(TIMED_OUT);
            breaker.reportOutcomes();
        }
    }

    /** Reports outcomes as a call does, and returns whether it is sent. */
    private static boolean isClosed(Breaker breaker) {
        breaker.reportOutcomes();
        return !breaker.isOpen() && !breaker.beginsProbe();
    }

    private static BackendException openFailure(Breaker breaker) {
        BackendException openFailure = catchThrowableOfType(BackendException.class, breaker::requireClosed);
        assertThat(openFailure).isNotNull();
        assertThat(openFailure.reason()).isEqualTo(Reason.BREAKER_OPEN);
        return openFailure;
    }

    @Test
    void opensAfterFiveFailuresInARow() {
        Breaker breaker = breaker(platform);
        fail(breaker, 4);
        breaker.record(null);
        fail(breaker, 4);
        assertThat(isClosed(breaker)).isTrue();
        fail(breaker, 1);
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(DELAY);
        assertThat(platform.open).isTrue();
        assertThat(notified).containsExactly(true);
    }

    @Test
    void requiresOneProbeAfterTheDelay() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        advance(DELAY.minusNanos(1));
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(Duration.ofNanos(1));
        advance(Duration.ofNanos(1));
        assertThat(breaker.beginsProbe()).isTrue();
        for (int other = 0; other < 64; other++) {
            assertThat(openFailure(breaker).retryAfter()).isZero();
        }
    }

    @Test
    void closesAfterASuccessfulProbe() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        advance(DELAY);
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
        assertThat(breaker.probeAfter()).isZero();
        assertThat(platform.open).isFalse();
        assertThat(notified).containsExactly(true, false);
        fail(breaker, 4);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void staysOpenForAnotherDelayAfterAFailedProbe() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        advance(DELAY);
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(TIMED_OUT);
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(DELAY);
        assertThat(notified).containsExactly(true);
    }

    @Test
    void replacesALostProbeAfterTwoMinutes() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        advance(DELAY);
        assertThat(breaker.beginsProbe()).isTrue();
        advance(Duration.ofMinutes(2).minusNanos(1));
        openFailure(breaker);
        advance(Duration.ofNanos(1));
        assertThat(breaker.beginsProbe()).isTrue();
        openFailure(breaker);
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void worksWithoutThePlatformsBreaker() {
        Breaker breaker = breaker(Breaker.Platform.NONE);
        fail(breaker, 5);
        openFailure(breaker);
        advance(DELAY);
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void opensWhenThePlatformsBreakerOpensEarlier() {
        platform.ratio = 0.4;
        Breaker breaker = breaker(platform);
        for (BackendException outcome : new BackendException[] {TIMED_OUT, null, null, TIMED_OUT, null, null}) {
            breaker.record(outcome);
            breaker.reportOutcomes();
        }
        assertThat(breaker.isOpen()).isTrue();
        assertThat(breaker.probeAfter()).isEqualTo(DELAY);
    }

    @Test
    void staysOpenUntilThePlatformsBreakerAcceptsASuccess() {
        Breaker breaker = breaker(platform);
        fail(breaker, 5);
        advance(DELAY);
        platform.openedAt = now;
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(openFailure(breaker).retryAfter()).isEqualTo(DELAY.dividedBy(10));
        advance(DELAY);
        assertThat(breaker.beginsProbe()).isTrue();
        breaker.recordProbe(null);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void closesAfterTheConfiguredNumberOfSuccessfulProbes() {
        Breaker breaker =
                new Breaker(new BreakerSettings(true, 5, DELAY, 3), Breaker.Platform.NONE, () -> now, listener);
        fail(breaker, 5);
        advance(DELAY);
        for (int probe = 0; probe < 3; probe++) {
            assertThat(breaker.beginsProbe()).isTrue();
            openFailure(breaker);
            breaker.recordProbe(null);
        }
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void reportsSuccessesOnlyAfterAFailure() {
        Breaker breaker = breaker(platform);
        for (int call = 0; call < 1_000; call++) {
            assertThat(isClosed(breaker)).isTrue();
            breaker.record(null);
        }
        assertThat(platform.reports).isZero();
        fail(breaker, 1);
        for (int call = 0; call < 1_000; call++) {
            breaker.record(null);
            breaker.reportOutcomes();
        }
        assertThat(platform.reports)
                .as("the failure, and the successes that remove it from the window")
                .isEqualTo(6);
    }

    @Test
    void reportsOutcomesOnThreadsOfCallersOnly() {
        Breaker breaker = breaker(platform);
        for (int call = 0; call < 5; call++) {
            breaker.record(TIMED_OUT);
        }
        assertThat(platform.reports).isZero();
        openFailure(breaker);
        assertThat(platform.reports).isEqualTo(5);
    }

    @Test
    void ignoresCallsThatFailBeforeTheFirstConnection() {
        Breaker breaker = breaker(platform);
        for (int call = 0; call < 100; call++) {
            breaker.record(new BackendException(Reason.NOT_READY, "not yet", null));
        }
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void neverOpensIfDisabled() {
        Breaker breaker = Breaker.disabled();
        fail(breaker, 100);
        assertThat(isClosed(breaker)).isTrue();
    }

    @Test
    void opensAlthoughTheListenerThrows() {
        BackendListener broken = new BackendListener() {
            @Override
            public void onBatch(int requests, int waitingKeys) {}

            @Override
            public void onBreakerChange(boolean open) {
                throw new IllegalStateException("no meter");
            }
        };
        Breaker breaker = new Breaker(BreakerSettings.DEFAULT, Breaker.Platform.NONE, () -> now, broken);
        fail(breaker, 5);
        openFailure(breaker);
    }

    /** For any sequence of outcomes, both breakers have the same state once all outcomes are reported. */
    @Test
    void agreesWithThePlatformsBreakerInRandomSequences() {
        long seed = Long.getLong(
                "weir.test.seed",
                Boolean.getBoolean("weir.test.full")
                        ? ThreadLocalRandom.current().nextLong()
                        : 1);
        System.out.printf("sequences of the breaker: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        for (int sequence = 0; sequence < 200; sequence++) {
            walkWithShortDelays(random, seed);
            PlatformModel model = new PlatformModel();
            Breaker tested = breaker(model);
            for (int step = 0; step < 300; step++) {
                boolean up = random.nextInt(10) < 4;
                if (tested.beginsProbe()) {
                    tested.recordProbe(up ? null : TIMED_OUT);
                } else if (tested.isOpen()) {
                    advance(Duration.ofSeconds(random.nextInt(7)));
                } else {
                    tested.record(up ? null : TIMED_OUT);
                }
                tested.reportOutcomes();
                assertThat(tested.isOpen())
                        .as("open like the platform's breaker, seed %d, sequence %d, step %d", seed, sequence, step)
                        .isEqualTo(model.open);
            }
            assertThat(model.rejected)
                    .as("reports that the platform's breaker rejected, seed %d", seed)
                    .isZero();
        }
    }

    /** With a longer delay, the platform's breaker never opens. */
    private void walkWithShortDelays(Random random, long seed) {
        PlatformModel model = new PlatformModel();
        Breaker tested = new Breaker(BreakerSettings.DEFAULT, model, () -> now, listener);
        for (int step = 0; step < 300; step++) {
            boolean up = random.nextInt(10) < 2;
            if (tested.beginsProbe()) {
                tested.recordProbe(up ? null : TIMED_OUT);
            } else if (tested.isOpen()) {
                advance(Duration.ofSeconds(random.nextInt(7)));
            } else {
                tested.record(up ? null : TIMED_OUT);
            }
            tested.reportOutcomes();
            assertThat(model.open).as("seed %d, step %d", seed, step).isFalse();
        }
    }

    @Test
    void requiresAProbeOfOneOfManyThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(64);
        try {
            for (int round = 0; round < 50; round++) {
                Breaker breaker = breaker(platform);
                fail(breaker, 5);
                advance(DELAY);
                CyclicBarrier start = new CyclicBarrier(64);
                List<Future<Boolean>> callers = new ArrayList<>();
                for (int caller = 0; caller < 64; caller++) {
                    callers.add(threads.submit(() -> {
                        start.await();
                        return breaker.beginsProbe();
                    }));
                }
                int probes = 0;
                for (Future<Boolean> caller : callers) {
                    probes += caller.get() ? 1 : 0;
                }
                assertThat(probes).isEqualTo(1);
                breaker.recordProbe(null);
                assertThat(isClosed(breaker)).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void eachThreadCanOpenAndCloseTheBreaker() throws Exception {
        Breaker breaker = breakerWithShortDelays();
        for (int round = 0; round < 3; round++) {
            onAnotherThread(() -> fail(breaker, 5));
            assertThat(breaker.isOpen()).isTrue();
            advance(breaker.probeAfter());
            onAnotherThread(() -> {
                assertThat(breaker.beginsProbe()).isTrue();
                breaker.recordProbe(null);
            });
            assertThat(breaker.isOpen()).isFalse();
        }
        assertThat(notified).containsExactly(true, false, true, false, true, false);
    }

    private static void onAnotherThread(Runnable task) throws Exception {
        FutureTask<Void> future = new FutureTask<>(task, null);
        new Thread(future).start();
        future.get(20, TimeUnit.SECONDS);
    }
}
