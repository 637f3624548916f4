// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;

/** When checks leave, with which others, and which never do. */
class FlightsTest {
    private static final int MOST_IN_THE_AIR = 2;
    private static final int MOST_KEYS_WAITING = 8_192;
    private static final int MOST_KEYS = 256;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 100_000, Duration.ofHours(1));
    private static final Limit RAISED = Limit.of(Algorithm.FIXED_WINDOW, 200_000, Duration.ofHours(1));

    private final Checks checks = Checks.in("test");
    private final List<Flight> left = new ArrayList<>();
    private final List<CompletableFuture<byte[]>> replies = new ArrayList<>();
    private final List<Integer> told = new ArrayList<>();
    private final Flights flights = new Flights(
            this::send, (aboard, keysWaiting) -> told.addAll(List.of(aboard, keysWaiting)), Breaker.never());

    private CompletableFuture<byte[]> send(Flight flight) {
        left.add(flight);
        CompletableFuture<byte[]> reply = new CompletableFuture<>();
        replies.add(reply);
        return reply;
    }

    @Test
    void aLoneCheckLeavesAtOnceAndIsAnsweredWhenItLands() {
        Check check = boarded("k.a");
        assertThat(left).containsExactly(check.flight);
        assertThat(check).isNotDone();
        land(0);
        assertThat(check.join().spent()).isTrue();
        boarded("k.a");
        assertThat(left).hasSize(2);
        assertThat(told).containsExactly(1, 0, 1, 0);
    }

    @Test
    void twoAreInTheAirAndThoseThatComeMeanwhileLeaveTogetherInOrder() {
        fillTheAir();
        List<Check> meanwhile = boarded("k.", 10);
        assertThat(left).hasSize(MOST_IN_THE_AIR);
        land(1);
        assertThat(left).hasSize(MOST_IN_THE_AIR + 1);
        assertThat(meanwhile).allSatisfy(check -> assertThat(check.flight).isSameAs(left.get(MOST_IN_THE_AIR)));
        assertThat(left.get(MOST_IN_THE_AIR).keys())
                .isEqualTo(meanwhile.stream().map(check -> check.keys.get(0)).toList());
        assertThat(told.subList(2 * MOST_IN_THE_AIR, told.size())).containsExactly(10, 0);
        land(MOST_IN_THE_AIR);
        assertThat(meanwhile)
                .allSatisfy(check -> assertThat(check.join().spent()).isTrue());
    }

    @Test
    void aProbeThatHadToWaitLeavesWithThoseThatWaitedBeforeIt() {
        Breaker breaker = new Breaker(
                new BreakerSettings(true, 1, Duration.ZERO, 1),
                Breaker.Platform.NONE,
                System::nanoTime,
                (aboard, keysWaiting) -> {});
        Flights guarded = new Flights(this::send, (aboard, keysWaiting) -> {}, breaker);
        for (int i = 0; i <= MOST_IN_THE_AIR; i++) {
            guarded.board(checks.spend("k." + i, 1, LIMIT), -1);
        }
        breaker.landed(new BackendException(Reason.TIMEOUT, "late", null));
        Check probe = checks.spend("k.probe", 1, LIMIT);
        probe.probe = true;
        guarded.board(probe, -1);
        land(0);
        assertThat(left).hasSize(MOST_IN_THE_AIR + 1);
        assertThat(probe.flight).isSameAs(left.get(MOST_IN_THE_AIR));
        assertThat(probe).isNotDone();
    }

    @Test
    void checksOnOneKeyAreAskedInTheOrderTheyCame() {
        fillTheAir();
        for (long cost : new long[] {5, 1, 1, 3, 1}) {
            board(checks.spend("k.hot", cost, LIMIT));
        }
        land(0);
        List<Asked> asked = Asked.by(left.get(MOST_IN_THE_AIR));
        assertThat(asked).extracting(each -> each.costs().get(0)).containsExactly(5L, 1L, 3L, 1L);
        assertThat(asked).extracting(Asked::count).containsExactly(1, 2, 1, 1);
    }

    @Test
    void whatDoesNotFitIntoAFlightLeavesWithTheNextAndNobodyOvertakesIt() {
        fillTheAir();
        Check old = board(checks.spend("k.a", 1, LIMIT));
        Check changed = board(checks.spend("k.a", 1, RAISED));
        Check behind = board(checks.spend("k.b", 1, LIMIT));
        land(0);
        assertThat(old.flight).isSameAs(left.get(MOST_IN_THE_AIR));
        assertThat(changed.flight).isNull();
        assertThat(behind.flight).isNull();
        land(1);
        assertThat(List.of(changed, behind))
                .allSatisfy(check -> assertThat(check.flight).isSameAs(left.get(MOST_IN_THE_AIR + 1)));
    }

    @Test
    void eachSlotHasFlightsOfItsOwn() {
        for (int i = 0; i < MOST_IN_THE_AIR + 1; i++) {
            flights.board(checks.spend("k.a", 1, LIMIT), 1);
        }
        Check other = checks.spend("k.b", 1, LIMIT);
        flights.board(other, 2);
        assertThat(left).hasSize(MOST_IN_THE_AIR + 1);
        assertThat(other.flight).isSameAs(left.get(MOST_IN_THE_AIR));
    }

    @Test
    void theQueueIsBoundedOverAllSlots() {
        for (int slot = 1; slot <= 2; slot++) {
            for (int i = 0; i < MOST_IN_THE_AIR + MOST_KEYS_WAITING / 2; i++) {
                flights.board(checks.spend("k." + i, 1, LIMIT), slot);
            }
        }
        Check beyond = checks.spend("k.beyond", 1, LIMIT);
        flights.board(beyond, 1);
        FlightTest.assertFailed(beyond, Reason.FULL);
        Check elsewhere = checks.spend("k.elsewhere", 1, LIMIT);
        flights.board(elsewhere, 3);
        assertThat(elsewhere.flight).isNotNull();
    }

    @Test
    void whoFindsTheQueueFullIsToldAtOnceAndWhoGivesUpMakesRoom() {
        fillTheAir();
        List<Check> waiting = boarded("k.", MOST_KEYS_WAITING);
        assertThat(waiting).allSatisfy(check -> assertThat(check).isNotDone());
        FlightTest.assertFailed(boarded("k.beyond"), Reason.FULL);
        waiting.subList(100, 102).forEach(flights::giveUp);
        flights.giveUp(waiting.get(100));
        Limit second = Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofMinutes(1));
        Limit third = Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(1));
        FlightTest.assertFailed(board(checks.spend("k.three", 1, LIMIT, second, third)), Reason.FULL);
        assertThat(board(checks.spend("k.two", 1, LIMIT, second))).isNotDone();
        FlightTest.assertFailed(boarded("k.beyond"), Reason.FULL);
        land(0);
        assertThat(told.subList(2 * MOST_IN_THE_AIR, told.size()))
                .containsExactly(MOST_KEYS, MOST_KEYS_WAITING - MOST_KEYS);
        assertThat(boarded("again.", MOST_KEYS))
                .allSatisfy(check -> assertThat(check).isNotDone());
        FlightTest.assertFailed(boarded("k.beyond"), Reason.FULL);
    }

    @Test
    void theQueueEmptiesToTheLastKeyAndIsCountedRightly() {
        fillTheAir();
        List<Check> all = boarded("k.", MOST_KEYS_WAITING);
        for (int i = 0; i < all.size(); i += 3) {
            flights.giveUp(all.get(i));
        }
        for (int next = 0; next < replies.size(); next++) {
            land(next);
        }
        for (int i = 0; i < all.size(); i++) {
            if (i % 3 == 0) {
                FlightTest.assertFailed(all.get(i), Reason.TIMEOUT);
                assertThat(all.get(i).flight).isNull();
            } else {
                assertThat(all.get(i).join().spent()).isTrue();
            }
        }
        assertThat(told.get(told.size() - 1)).isZero();
        assertEverybodyHasLanded();
    }

    @Test
    void aCheckThatIsGivenUpBeforeItsFlightLeftNeverLeaves() {
        fillTheAir();
        Check first = boarded("k.a");
        Check second = boarded("k.b");
        flights.giveUp(first);
        FlightTest.assertFailed(first, Reason.TIMEOUT);
        land(0);
        assertThat(left.get(MOST_IN_THE_AIR).keys()).isEqualTo(second.keys);
        assertThat(left.get(MOST_IN_THE_AIR).checks()).isEqualTo(1);
    }

    @Test
    void noFlightLeavesForThoseThatHaveAllGivenUp() {
        fillTheAir();
        boarded("k.", 5).forEach(flights::giveUp);
        land(0);
        assertThat(left).hasSize(MOST_IN_THE_AIR);
        assertThat(boarded("k.a").flight).isSameAs(left.get(MOST_IN_THE_AIR));
    }

    @Test
    void aCheckWhoseDeadlineHasPassedDoesNotBoard() {
        fillTheAir();
        Check late = checks.of(List.of(TestStore.charge("k.late", 1, LIMIT)), true, System.nanoTime());
        board(late);
        Check inTime = boarded("k.a");
        land(0);
        assertThat(late.flight).isNull();
        assertThat(left.get(MOST_IN_THE_AIR).keys()).isEqualTo(inTime.keys);
        flights.giveUp(late);
        FlightTest.assertFailed(late, Reason.TIMEOUT);
        for (int next = 1; next < replies.size(); next++) {
            land(next);
        }
        assertEverybodyHasLanded();
    }

    @Test
    void aFlightThatDoesNotComeBackFreesItsPlaceOnceWhenTheFirstPassengerGivesUp() {
        fillTheAir();
        List<Check> stuck = boarded("k.", 3);
        land(0);
        List<Check> behind = boarded("k.", 3);
        Check apart = board(checks.spend("k.0", 1, RAISED));
        assertThat(left).hasSize(MOST_IN_THE_AIR + 1);
        flights.giveUp(stuck.get(1));
        assertThat(behind).allSatisfy(check -> assertThat(check.flight).isSameAs(left.get(MOST_IN_THE_AIR + 1)));
        stuck.forEach(flights::giveUp);
        assertThat(left).hasSize(MOST_IN_THE_AIR + 2);
        assertThat(stuck).allSatisfy(check -> assertThat(check).isNotDone());
        land(MOST_IN_THE_AIR);
        assertThat(stuck).allSatisfy(check -> assertThat(check).isCompleted());
        assertThat(apart.flight).isNull();
        land(1);
        assertThat(apart.flight).isSameAs(left.get(MOST_IN_THE_AIR + 2));
    }

    @Test
    void aFlightThatFailsFailsItsPassengersAndNoOthers() {
        fillTheAir();
        List<Check> failing = boarded("k.", 3);
        land(0);
        List<Check> next = boarded("k.", 3);
        replies.get(MOST_IN_THE_AIR).completeExceptionally(new RedisConnectionException("gone"));
        failing.forEach(check -> FlightTest.assertFailed(check, Reason.CONNECTION));
        land(MOST_IN_THE_AIR + 1);
        assertThat(next).allSatisfy(check -> assertThat(check.join().spent()).isTrue());
    }

    @Test
    void aReplyThatEndsTooSoonFailsThoseItDoesNotAnswer() {
        fillTheAir();
        List<Check> all = boarded("k.", 3);
        land(0);
        byte[] whole = ScriptedReply.admitting(left.get(MOST_IN_THE_AIR));
        replies.get(MOST_IN_THE_AIR).complete(Arrays.copyOf(whole, whole.length - 2));
        assertThat(all.get(1).join().spent()).isTrue();
        FlightTest.assertFailed(all.get(2), Reason.CONNECTION);
        for (int next = 1; next < MOST_IN_THE_AIR; next++) {
            land(next);
        }
        assertEverybodyHasLanded();
    }

    @Test
    void thousandsOfFlightsThatFailAtOnceDoNotOverflowTheStack() {
        for (boolean thrown : new boolean[] {false, true}) {
            List<CompletableFuture<byte[]>> held = new ArrayList<>();
            Flights failing = new Flights(
                    flight -> {
                        if (held.size() < MOST_IN_THE_AIR) {
                            held.add(new CompletableFuture<>());
                            return held.get(held.size() - 1);
                        } else if (thrown) {
                            throw new IllegalStateException("shut down");
                        }
                        return CompletableFuture.failedFuture(new RedisConnectionException("gone"));
                    },
                    (aboard, keysWaiting) -> {},
                    Breaker.never());
            // One limit per key and flight, so that each leaves alone.
            List<Check> all = IntStream.range(0, MOST_KEYS_WAITING)
                    .mapToObj(i -> checks.spend("k.a", 1, i % 2 == 0 ? LIMIT : RAISED))
                    .toList();
            all.forEach(check -> failing.board(check, -1));
            for (CompletableFuture<byte[]> reply : held) {
                reply.completeExceptionally(new RedisConnectionException("gone"));
            }
            all.forEach(check -> FlightTest.assertFailed(check, Reason.CONNECTION));
        }
    }

    @Test
    void whatWaitsWhenTheBreakerOpensDoesNotLeaveButTheProbeDoes() {
        Breaker breaker =
                new Breaker(BreakerSettings.DEFAULT, Breaker.Platform.NONE, System::nanoTime, (aboard, waiting) -> {});
        Flights guarded = new Flights(this::send, (aboard, keysWaiting) -> {}, breaker);
        List<Check> all = IntStream.range(0, 20)
                .mapToObj(i -> checks.spend("k.a", 1, LIMIT))
                .toList();
        all.forEach(check -> guarded.board(check, -1));
        for (int failure = 0; failure < 5; failure++) {
            breaker.landed(new BackendException(Reason.TIMEOUT, "late", null));
        }
        replies.forEach(reply -> reply.completeExceptionally(new RedisConnectionException("gone")));
        assertThat(left).hasSize(MOST_IN_THE_AIR);
        all.subList(0, MOST_IN_THE_AIR).forEach(check -> FlightTest.assertFailed(check, Reason.CONNECTION));
        all.subList(MOST_IN_THE_AIR, 20).forEach(check -> FlightTest.assertFailed(check, Reason.BREAKER_OPEN));
        Check probe = checks.spend("k.a", 1, LIMIT);
        probe.probe = true;
        guarded.board(probe, -1);
        assertThat(left).hasSize(MOST_IN_THE_AIR + 1);
    }

    @Test
    void aListenerThatThrowsHarmsNobody() {
        BackendListener broken = (aboard, keysWaiting) -> {
            throw new IllegalStateException("no meter");
        };
        Flights heard = new Flights(this::send, broken, Breaker.never());
        List<Check> all = IntStream.range(0, 20)
                .mapToObj(i -> checks.spend("k.a", 1, LIMIT))
                .toList();
        all.forEach(check -> heard.board(check, -1));
        for (int next = 0; next < replies.size(); next++) {
            land(next);
        }
        assertThat(all).allSatisfy(check -> assertThat(check.join().spent()).isTrue());
    }

    private void fillTheAir() {
        for (int i = 0; i < MOST_IN_THE_AIR; i++) {
            Check check = boarded("first." + i);
            assertThat(check.flight).isSameAs(left.get(i));
        }
    }

    /** Both places are free again, and no third one is. */
    private void assertEverybodyHasLanded() {
        int before = left.size();
        boarded("idle.", MOST_IN_THE_AIR + 1);
        assertThat(left).hasSize(before + MOST_IN_THE_AIR);
    }

    private void land(int number) {
        replies.get(number).complete(ScriptedReply.admitting(left.get(number)));
    }

    private List<Check> boarded(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> boarded(prefix + i)).toList();
    }

    private Check boarded(String identity) {
        return board(checks.spend(identity, 1, LIMIT));
    }

    private Check board(Check check) {
        flights.board(check, -1);
        return check;
    }
}
