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
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final BackendException LATE = new BackendException(Reason.TIMEOUT, "late", null);
    private static final Duration DELAY = Duration.ofSeconds(30);

    private long now;
    private final Server server = new Server();
    private final List<Boolean> heard = new ArrayList<>();
    private final BackendListener listener = new BackendListener() {
        @Override
        public void onFlight(int checks, int keysWaiting) {}

        @Override
        public void onBreaker(boolean open) {
            heard.add(open);
        }
    };

    /** A breaker as MicroProfile Fault Tolerance specifies it, with a window of the latest calls. */
    private final class Server implements Breaker.Platform {
        private final ArrayDeque<Boolean> window = new ArrayDeque<>();
        private int volume = 5;
        private double ratio = 1;
        private int refused;
        private int told;
        private boolean open;
        private boolean halfOpen;
        private long openedAt;

        @Override
        public boolean takes(@Nullable BackendException failure) {
            told++;
            if (open && now - openedAt >= DELAY.toNanos()) {
                open = false;
                halfOpen = true;
            }
            if (open) {
                refused++;
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
        return new Breaker(BreakerSettings.DEFAULT, platform, () -> now, listener);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private static void fail(Breaker breaker, int times) {
        for (int i = 0; i < times; i++) {
            breaker.landed(LATE);
            breaker.tell();
        }
    }

    private static BackendException denied(Breaker breaker) {
        BackendException denied = catchThrowableOfType(BackendException.class, breaker::passOrProbe);
        assertThat(denied).isNotNull();
        assertThat(denied.reason()).isEqualTo(Reason.BREAKER_OPEN);
        return denied;
    }

    @Test
    void fiveFailuresInARowOpenItAndAnAnswerInBetweenDoesNot() {
        Breaker breaker = breaker(server);
        fail(breaker, 4);
        breaker.landed(null);
        fail(breaker, 4);
        assertThat(breaker.passOrProbe()).isTrue();
        fail(breaker, 1);
        assertThat(denied(breaker).retryAfter()).isEqualTo(DELAY);
        assertThat(server.open).isTrue();
        assertThat(heard).containsExactly(true);
    }

    @Test
    void whileItIsOpenTheFirstCallAfterTheDelayIsTheProbeAndAllOthersAreDenied() {
        Breaker breaker = breaker(server);
        fail(breaker, 5);
        pass(DELAY.minusNanos(1));
        assertThat(denied(breaker).retryAfter()).isEqualTo(Duration.ofNanos(1));
        pass(Duration.ofNanos(1));
        assertThat(breaker.passOrProbe()).isFalse();
        for (int other = 0; other < 64; other++) {
            assertThat(denied(breaker).retryAfter()).isZero();
        }
    }

    @Test
    void anAnsweredProbeClosesIt() {
        Breaker breaker = breaker(server);
        fail(breaker, 5);
        pass(DELAY);
        assertThat(breaker.passOrProbe()).isFalse();
        breaker.probed(null);
        assertThat(breaker.passOrProbe()).isTrue();
        assertThat(breaker.untilProbe()).isZero();
        assertThat(server.open).isFalse();
        assertThat(heard).containsExactly(true, false);
        fail(breaker, 4);
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void aProbeThatFailsKeepsItOpenForAnotherDelay() {
        Breaker breaker = breaker(server);
        fail(breaker, 5);
        pass(DELAY);
        assertThat(breaker.passOrProbe()).isFalse();
        breaker.probed(LATE);
        assertThat(denied(breaker).retryAfter()).isEqualTo(DELAY);
        assertThat(heard).containsExactly(true);
    }

    @Test
    void aProbeOfWhichNothingIsHeardIsLostAfterTwoMinutesAndAnotherIsMade() {
        Breaker breaker = breaker(server);
        fail(breaker, 5);
        pass(DELAY);
        assertThat(breaker.passOrProbe()).isFalse();
        pass(Duration.ofMinutes(2).minusNanos(1));
        denied(breaker);
        pass(Duration.ofNanos(1));
        assertThat(breaker.passOrProbe()).isFalse();
        denied(breaker);
        breaker.probed(null);
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void withoutOneOfTheServerItDoesTheSame() {
        Breaker breaker = breaker(Breaker.Platform.NONE);
        fail(breaker, 5);
        denied(breaker);
        pass(DELAY);
        assertThat(breaker.passOrProbe()).isFalse();
        breaker.probed(null);
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void itOpensWhenTheServersDoesEarlier() {
        server.ratio = 0.4;
        Breaker breaker = breaker(server);
        for (BackendException outcome : new BackendException[] {LATE, null, null, LATE, null, null}) {
            breaker.landed(outcome);
            breaker.tell();
        }
        assertThat(breaker.isOpen()).isTrue();
        assertThat(breaker.untilProbe()).isEqualTo(DELAY);
    }

    @Test
    void theServersHasTheLastWordOnWhenItCloses() {
        Breaker breaker = breaker(server);
        fail(breaker, 5);
        pass(DELAY);
        server.openedAt = now;
        assertThat(breaker.passOrProbe()).isFalse();
        breaker.probed(null);
        assertThat(denied(breaker).retryAfter()).isEqualTo(DELAY.dividedBy(10));
        pass(DELAY);
        assertThat(breaker.passOrProbe()).isFalse();
        breaker.probed(null);
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void asManyProbesAsTheServersWantsMustSucceedOneByOne() {
        Breaker breaker =
                new Breaker(new BreakerSettings(true, 5, DELAY, 3), Breaker.Platform.NONE, () -> now, listener);
        fail(breaker, 5);
        pass(DELAY);
        for (int probe = 0; probe < 3; probe++) {
            assertThat(breaker.passOrProbe()).isFalse();
            denied(breaker);
            breaker.probed(null);
        }
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void callsThatGoWellDoNotPayForTheServers() {
        Breaker breaker = breaker(server);
        for (int call = 0; call < 1_000; call++) {
            assertThat(breaker.passOrProbe()).isTrue();
            breaker.landed(null);
        }
        assertThat(server.told).isZero();
        fail(breaker, 1);
        for (int call = 0; call < 1_000; call++) {
            breaker.landed(null);
            breaker.tell();
        }
        assertThat(server.told)
                .as("the failure, and the answers that push it out")
                .isEqualTo(6);
    }

    @Test
    void theServersIsNotToldOnAThreadOfTheClient() {
        Breaker breaker = breaker(server);
        for (int call = 0; call < 5; call++) {
            breaker.landed(LATE);
        }
        assertThat(server.told).isZero();
        denied(breaker);
        assertThat(server.told).isEqualTo(5);
    }

    @Test
    void whatFailsForWantOfAConnectionDoesNotOpenIt() {
        Breaker breaker = breaker(server);
        for (int call = 0; call < 100; call++) {
            breaker.landed(new BackendException(Reason.NOT_READY, "not yet", null));
        }
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void switchedOffItNeverOpens() {
        Breaker breaker = Breaker.never();
        fail(breaker, 100);
        assertThat(breaker.passOrProbe()).isTrue();
    }

    @Test
    void aListenerThatThrowsDoesNotKeepItClosed() {
        BackendListener broken = new BackendListener() {
            @Override
            public void onFlight(int checks, int keysWaiting) {}

            @Override
            public void onBreaker(boolean open) {
                throw new IllegalStateException("no meter");
            }
        };
        Breaker breaker = new Breaker(BreakerSettings.DEFAULT, Breaker.Platform.NONE, () -> now, broken);
        fail(breaker, 5);
        denied(breaker);
    }

    /** Whatever comes in whatever order, both agree whenever everything is told and no delay is about to end. */
    @Test
    void itAgreesWithTheServersOverRandomCourses() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int course = 0; course < 200; course++) {
            Server mine = new Server();
            Breaker tested = breaker(mine);
            for (int step = 0; step < 300; step++) {
                boolean up = random.nextInt(10) < 4;
                try {
                    if (tested.passOrProbe()) {
                        tested.landed(up ? null : LATE);
                    } else {
                        tested.probed(up ? null : LATE);
                    }
                } catch (BackendException e) {
                    pass(Duration.ofSeconds(random.nextInt(7)));
                }
                tested.tell();
                assertThat(tested.isOpen())
                        .as("open like the server's, seed %d, course %d, step %d", seed, course, step)
                        .isEqualTo(mine.open);
            }
            assertThat(mine.refused)
                    .as("outcomes that the server's did not take, seed %d", seed)
                    .isZero();
        }
    }

    @Test
    void ofManyThreadsOneIsTheProbe() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(64);
        try {
            for (int round = 0; round < 50; round++) {
                Breaker breaker = breaker(server);
                fail(breaker, 5);
                pass(DELAY);
                CyclicBarrier start = new CyclicBarrier(64);
                List<Future<Boolean>> callers = new ArrayList<>();
                for (int caller = 0; caller < 64; caller++) {
                    callers.add(threads.submit(() -> {
                        start.await();
                        try {
                            return !breaker.passOrProbe();
                        } catch (BackendException e) {
                            return false;
                        }
                    }));
                }
                int probes = 0;
                for (Future<Boolean> caller : callers) {
                    probes += caller.get() ? 1 : 0;
                }
                assertThat(probes).isEqualTo(1);
                breaker.probed(null);
                assertThat(breaker.passOrProbe()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
