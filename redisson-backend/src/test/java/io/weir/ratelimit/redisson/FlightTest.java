// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.ScriptedReply.FOREIGN;
import static io.weir.ratelimit.redisson.ScriptedReply.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a flight asks for, and how it tells each check its part of the answer. */
class FlightTest {
    private static final Limit FIXED = Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofHours(1));
    private static final Limit OTHER = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1));
    private static final Limit LOG = Limit.of(Algorithm.SLIDING_LOG, 3, Duration.ofHours(1));
    private static final Limit QUEUE =
            Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(5));

    private final Checks checks = Checks.in("test");

    @Test
    void equalChecksInARowAreOneQuestionWithACount() {
        Flight flight = flight(spend("k.a"), spend("k.a"), spend("k.b"), spend("k.a"), spend("k.b"));
        assertThat(flight.checks()).isEqualTo(5);
        assertThat(flight.keys()).containsExactly(key("k.a"), key("k.b"));
        assertThat(Asked.by(flight)).extracting(Asked::count).containsExactly(3, 2);
    }

    @Test
    void checksAreNotCountedTogetherAcrossOneThatTouchesTheirKey() {
        Flight flight = flight(
                spend("k.a"), spend("k.a"), checks.spend("k.a", 2, FIXED), spend("k.a"), checks.look("k.a", 1, FIXED));
        assertThat(Asked.by(flight)).extracting(Asked::count).containsExactly(2, 1, 1, 1);
        assertThat(Asked.by(flight)).extracting(Asked::spends).containsExactly(true, true, true, false);
        assertThat(Asked.by(flight)).extracting(asked -> asked.costs().get(0)).containsExactly(1L, 2L, 1L, 1L);
    }

    @Test
    void checksOfSeveralKeysAreNotCountedTogetherAcrossOneThatTouchesAnyOfThem() {
        Flight flight = flight(both(), both(), checks.spend("k.a", 1, OTHER), both(), both(), spend("k.a"), both());
        assertThat(Asked.by(flight)).extracting(Asked::count).containsExactly(2, 1, 2, 1, 1);
        assertThat(flight.keys()).containsExactly(key("k.a"), key("k.a", OTHER));
    }

    @Test
    void checksOfOtherCostOrPatienceOrThatOnlyLookAreNotEqual() {
        Flight flight = flight(
                patient(0),
                patient(0),
                patient(1_000),
                patient(1_000),
                checks.look("k.b", 1, FIXED),
                checks.look("k.b", 1, FIXED));
        assertThat(Asked.by(flight)).extracting(Asked::count).containsExactly(2, 2, 1, 1);
        assertThat(Asked.by(flight).get(1).patienceMicros()).containsExactly(1_000L);
    }

    @Test
    void aKeyHasOneLimitInAFlight() {
        Limit raised = Limit.of(Algorithm.FIXED_WINDOW, 4, Duration.ofHours(1));
        Flight flight = flight(spend("k.a"));
        assertThat(flight.board(checks.spend("k.a", 1, raised))).isFalse();
        assertThat(flight.board(checks.of(
                        List.of(TestStore.charge("k.new", 1, FIXED), TestStore.charge("k.a", 1, raised)), true)))
                .isFalse();
        assertThat(flight.keys()).containsExactly(key("k.a"));
        assertThat(flight.checks()).isEqualTo(1);
        assertThat(flight.board(spend("k.new"))).isTrue();
        assertThat(Asked.by(flight)).extracting(Asked::count).containsExactly(1, 1);
    }

    @Test
    void aFlightHasAtMost256KeysAndAnyNumberOfChecksOnThem() {
        Flight flight = flight(spend("k.0"));
        for (int i = 1; i < 255; i++) {
            assertThat(flight.board(spend("k." + i))).isTrue();
        }
        assertThat(flight.board(checks.spend("k.last", 1, FIXED, OTHER))).isFalse();
        assertThat(flight.board(spend("k.last"))).isTrue();
        assertThat(flight.board(spend("k.beyond"))).isFalse();
        for (int i = 0; i < 1_000; i++) {
            assertThat(flight.board(spend("k." + i % 255))).isTrue();
        }
        assertThat(flight.keys()).hasSize(256);
        assertThat(flight.checks()).isEqualTo(1_256);
    }

    @Test
    void aCheckOfMoreKeysThanThatTravelsAlone() {
        List<Charge> charges = IntStream.range(0, 300)
                .mapToObj(i -> new Charge(new PolicyLimits("p" + i, List.of(FIXED)), "k.a", 1))
                .toList();
        Flight flight = flight(checks.of(charges, true));
        assertThat(flight.board(spend("k.b"))).isFalse();
        assertThat(flight.keys()).hasSize(300);
        assertThat(Asked.by(flight))
                .singleElement()
                .satisfies(asked -> assertThat(asked.keys()).isEqualTo(flight.keys()));
    }

    @Test
    void theFirstOfARunAreChargedOneAfterTheOtherAndTheRestRefused() {
        List<Check> all = List.of(spend("k.a"), spend("k.a"), spend("k.a"), spend("k.a"));
        Flight flight = flight(all.toArray(Check[]::new));
        flight.landed(new ScriptedReply().state(NOW - 1, 1, 0).admitted(2).bytes());
        assertThat(all.stream().map(FlightTest::decision).map(Decision::allowed))
                .containsExactly(true, true, false, false);
        assertThat(all.stream().map(check -> quota(check).remaining())).containsExactly(1L, 0L, 0L, 0L);
        assertThat(all.get(0).join().states()).containsExactly(new FixedWindowState(NOW - 1, 2));
        assertThat(all.get(1).join().states()).containsExactly(new FixedWindowState(NOW - 1, 3));
        assertThat(quota(all.get(2)).retryAfterMicros()).isEqualTo(FIXED.windowMicros() - 1);
    }

    @Test
    void aRunFindsWhatTheRunsBeforeItHaveLeft() {
        Check first = spend("k.a");
        Check costly = checks.spend("k.a", 5, FIXED);
        Check look = checks.look("k.a", 1, FIXED);
        Check second = checks.spend("k.a", 2, FIXED);
        Check late = checks.look("k.a", 1, FIXED);
        Flight flight = flight(first, costly, look, second, late);
        flight.landed(
                new ScriptedReply().state(NOW, 0, 0).admitted(1, 0, 1, 1, 0).bytes());
        assertThat(quota(first).remaining()).isEqualTo(2);
        assertThat(quota(costly).refused()).isTrue();
        assertThat(quota(costly).retryAfterMicros()).isEqualTo(Quota.NEVER);
        assertThat(quota(look).remaining()).isEqualTo(2);
        assertThat(look.join().room()).isTrue();
        assertThat(look.join().spent()).isFalse();
        assertThat(decision(second).allowed()).isTrue();
        assertThat(quota(second).remaining()).isZero();
        assertThat(late.join().room()).isFalse();
        assertThat(quota(late).refused()).isTrue();
    }

    @Test
    void aCheckOfTwoKeysChargesBothOrNone() {
        List<Check> all = List.of(both(), both(), both());
        Check alone = checks.spend("k.a", 1, OTHER);
        Flight flight = flight(all.get(0), all.get(1), all.get(2), alone);
        flight.landed(new ScriptedReply()
                .state(NOW, 1, 0)
                .state(NOW, 0, 0)
                .admitted(2, 1)
                .bytes());
        assertThat(all.stream().map(FlightTest::decision).map(Decision::allowed))
                .containsExactly(true, true, false);
        assertThat(all.get(1).join().states())
                .containsExactly(new FixedWindowState(NOW, 3), new FixedWindowState(NOW, 2));
        assertThat(decision(all.get(2)).quotas()).extracting(Quota::refused).containsExactly(true, false);
        assertThat(quota(alone).remaining()).isEqualTo(2);
    }

    @Test
    void callsOfOneRunWaitForSlotsOneAfterTheOther() {
        List<Check> all = List.of(patient(200_000), patient(200_000), patient(200_000), patient(200_000));
        Flight flight = flight(all.toArray(Check[]::new));
        flight.landed(new ScriptedReply()
                .state(NOW, 0, QUEUE.unitExponent())
                .admitted(3)
                .bytes());
        assertThat(all.stream().map(check -> check.join().waitMicros())).containsExactly(0L, 100_000L, 200_000L, 0L);
        assertThat(quota(all.get(3)).retryAfterMicros()).isEqualTo(100_000);
    }

    @Test
    void eachRunOnALogReadsTheEntryThatItsCostWaitsFor() {
        Check one = checks.spend("k.a", 1, LOG);
        Check two = checks.spend("k.a", 2, LOG);
        Check three = checks.spend("k.a", 3, LOG);
        Flight flight = flight(one, two, three);
        long oldest = NOW - 2_000;
        long newest = NOW - 1_000;
        flight.landed(new ScriptedReply()
                .state(oldest, newest, 2)
                .admitted(1)
                .entry(oldest)
                .admitted(0)
                .entry(newest)
                .admitted(0)
                .entry(NOW)
                .bytes());
        assertThat(decision(one).allowed()).isTrue();
        assertThat(quota(two).retryAfterMicros()).isEqualTo(newest + LOG.windowMicros() - NOW);
        assertThat(quota(three).retryAfterMicros()).isEqualTo(LOG.windowMicros());
    }

    @Test
    void aForeignValueFailsTheChecksThatNameItAndNoOthers() {
        List<Check> bad = List.of(spend("k.bad"), spend("k.bad"));
        List<Check> good = List.of(spend("k.a"), checks.spend("k.a", 1, LOG), spend("k.b"));
        Flight flight = flight(good.get(0), bad.get(0), good.get(1), bad.get(1), good.get(2));
        flight.landed(new ScriptedReply()
                .state(NOW, 0, 0)
                .state(0, 0, 0)
                .state(0, 0, 0)
                .state(NOW, 0, 0)
                .admitted(1, FOREIGN, 1)
                .entry(0)
                .admitted(1)
                .bytes());
        assertThat(good)
                .allSatisfy(check -> assertThat(decision(check).allowed()).isTrue());
        bad.forEach(check -> assertFailed(check, Reason.FOREIGN_STATE));
    }

    @Test
    void aFlightThatFailedTellsAllWhy() {
        List<Check> all = List.of(spend("k.a"), spend("k.a"), checks.look("k.b", 1, FIXED));
        flight(all.toArray(Check[]::new)).failed(new BackendException(Reason.CONNECTION, "gone", null));
        all.forEach(check -> assertFailed(check, Reason.CONNECTION));
    }

    static void assertFailed(Check check, Reason reason) {
        assertThat(check).isDone();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(check::join)
                .satisfies(e -> assertThat(e.getCause())
                        .isInstanceOfSatisfying(
                                BackendException.class,
                                failure -> assertThat(failure.reason()).isEqualTo(reason)));
    }

    private static Flight flight(Check... aboard) {
        Flight flight = new Flight(aboard[0]);
        for (int i = 1; i < aboard.length; i++) {
            assertThat(flight.board(aboard[i])).isTrue();
        }
        return flight;
    }

    private Check spend(String identity) {
        return checks.spend(identity, 1, FIXED);
    }

    private Check both() {
        return checks.spend("k.a", 1, FIXED, OTHER);
    }

    private Check patient(long micros) {
        return checks.of(List.of(new Charge(new PolicyLimits("queue", List.of(QUEUE)), "k.a", 1, micros)), true);
    }

    private String key(String identity) {
        return key(identity, FIXED);
    }

    private String key(String identity, Limit limit) {
        return checks.keys().of(TestStore.charge(identity, 1, limit), 0);
    }

    private static Decision decision(Check check) {
        return check.join().decision(check.charges);
    }

    private static Quota quota(Check check) {
        return check.join().quotas(check.charges).get(0);
    }

    private Check callOf(Charge... charges) {
        return checks.call(List.of(charges));
    }

    private static Charge shadow(String identity, long cost, Limit... limits) {
        return TestStore.charge(identity, cost, limits).asShadow();
    }

    private static Charge enforced(String identity, long cost, Limit... limits) {
        return TestStore.charge(identity, cost, limits);
    }

    @Test
    void shadowChargesTravelRightBehindTheirCallAndAreNotCountedTogether() {
        Check first = callOf(shadow("k.s", 1, FIXED), enforced("k.a", 1, FIXED), shadow("k.t", 2, OTHER));
        Check next = callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, FIXED));
        Flight flight = flight(spend("k.a"), first, next, spend("k.a"), spend("k.s"), spend("k.s"));
        List<Asked> asked = Asked.by(flight);
        assertThat(asked)
                .extracting(each -> each.keys().get(0))
                .containsExactly(
                        key("k.a"),
                        key("k.a"),
                        key("k.s"),
                        key("k.t", OTHER),
                        key("k.a"),
                        key("k.s"),
                        key("k.a"),
                        key("k.s"));
        assertThat(asked).extracting(Asked::spends).containsExactly(true, true, false, false, true, false, true, true);
        assertThat(asked)
                .extracting(Asked::follows)
                .containsExactly(false, false, true, true, false, true, false, false);
        assertThat(asked).extracting(Asked::count).containsExactly(1, 1, 1, 1, 1, 1, 1, 2);
        assertThat(flight.checks()).isEqualTo(6);
        assertThat(first.size).isEqualTo(3);
    }

    @Test
    void aCallBoardsWithAllItsShadowChargesOrNotAtAll() {
        Limit raised = Limit.of(Algorithm.FIXED_WINDOW, 4, Duration.ofHours(1));
        Flight flight = flight(spend("k.s"));
        assertThat(flight.board(callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, raised))))
                .isFalse();
        for (int i = 1; i < 255; i++) {
            assertThat(flight.board(spend("k." + i))).isTrue();
        }
        assertThat(flight.board(callOf(enforced("k.a", 1, FIXED), shadow("k.t", 1, FIXED))))
                .isFalse();
        assertThat(flight.keys()).hasSize(255);
        assertThat(flight.board(callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, FIXED))))
                .isTrue();
    }

    @Test
    void aShadowChargeSpendsWithItsCallOnly() {
        Check admitted = callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, FIXED));
        Check refused = callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, FIXED));
        Check last = spend("k.s");
        flight(admitted, refused, last)
                .landed(new ScriptedReply()
                        .state(NOW, 2, 0)
                        .state(NOW, 0, 0)
                        .admitted(1, 1, 0, 1, 1)
                        .bytes());
        Answer spent = admitted.shadows.get(0).join();
        assertThat(spent.spent()).isTrue();
        assertThat(spent.states()).containsExactly(new FixedWindowState(NOW, 1));
        Answer left = refused.shadows.get(0).join();
        assertThat(left.spent()).isFalse();
        assertThat(left.room()).isTrue();
        assertThat(left.quotas(refused.shadows.get(0).charges))
                .extracting(Quota::refused)
                .containsExactly(false);
        assertThat(quota(last).remaining()).isEqualTo(1);
    }

    @Test
    void whoeverHearsOfACallFindsItsShadowChargesAnswered() {
        Check call = callOf(enforced("k.a", 1, FIXED), shadow("k.s", 1, FIXED));
        CompletableFuture<Boolean> found =
                call.thenApply(answer -> call.shadows.get(0).isDone());
        flight(call, spend("k.b"))
                .landed(new ScriptedReply()
                        .state(NOW, 0, 0)
                        .state(NOW, 0, 0)
                        .state(NOW, 0, 0)
                        .admitted(1, 0, 1)
                        .bytes());
        assertThat(found).isCompletedWithValue(true);
    }

    @Test
    void aForeignValueFailsTheShadowChargeThatNamesItAndLetsNoneSpendWhoseCallNamesIt() {
        Check first = callOf(enforced("k.a", 1, FIXED), shadow("k.bad", 1, FIXED));
        Check second = callOf(enforced("k.bad", 1, FIXED), shadow("k.s", 1, FIXED));
        flight(first, second)
                .landed(new ScriptedReply()
                        .state(NOW, 0, 0)
                        .state(0, 0, 0)
                        .state(NOW, 0, 0)
                        .admitted(1, FOREIGN, FOREIGN, 1)
                        .bytes());
        assertThat(first.join().spent()).isTrue();
        assertFailed(first.shadows.get(0), Reason.FOREIGN_STATE);
        assertFailed(second, Reason.FOREIGN_STATE);
        assertThat(second.shadows.get(0).join().spent()).isFalse();
    }
}
