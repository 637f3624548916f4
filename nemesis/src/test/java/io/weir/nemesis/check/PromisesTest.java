// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import static io.weir.nemesis.history.Operation.Kind.ACQUIRE;
import static io.weir.nemesis.history.Operation.Kind.ANSWER;
import static io.weir.nemesis.history.Operation.Kind.BLOCK;
import static io.weir.nemesis.history.Operation.Kind.CHANGE;
import static io.weir.nemesis.history.Operation.Kind.KEY;
import static io.weir.nemesis.history.Operation.Kind.PEEK;
import static io.weir.nemesis.history.Operation.Kind.PENALTY;
import static io.weir.nemesis.history.Operation.Kind.READ;
import static io.weir.nemesis.history.Operation.Kind.REFUND;
import static io.weir.nemesis.history.Operation.Kind.RELEASE;
import static io.weir.nemesis.history.Operation.Kind.SEND;
import static io.weir.nemesis.history.Operation.Kind.SETTLE;
import static io.weir.nemesis.history.Operation.Kind.THRESHOLD;
import static io.weir.nemesis.history.Operation.Kind.UNBLOCK;
import static io.weir.nemesis.history.Operation.Outcome.ALLOWED;
import static io.weir.nemesis.history.Operation.Outcome.BLOCKED;
import static io.weir.nemesis.history.Operation.Outcome.DEGRADED_ALLOWED;
import static io.weir.nemesis.history.Operation.Outcome.DEGRADED_REJECTED;
import static io.weir.nemesis.history.Operation.Outcome.DONE;
import static io.weir.nemesis.history.Operation.Outcome.FAILED;
import static io.weir.nemesis.history.Operation.Outcome.LOST;
import static io.weir.nemesis.history.Operation.Outcome.REJECTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import io.weir.ratelimit.FailureMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Each promise with a history that keeps it, one that breaks it, and one with each documented exception. */
class PromisesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** Asserts that a history breaks a promise first by an operation. */
    private static void assertFirst(Promise promise, HistoryBuilder history, long operation) {
        List<Violation> found = promise.check(history.build());
        assertThat(found).hasSize(1);
        assertThat(found.get(0).operation().number()).isEqualTo(operation);
        assertThat(found.get(0).promise()).isEqualTo(promise.name());
    }

    private static void assertKept(Promise promise, HistoryBuilder history) {
        assertThat(promise.check(history.build())).isEmpty();
    }

    private static HistoryBuilder log() {
        return new HistoryBuilder(Form.SLIDING_LOG, 3, SECOND, FailureMode.CLOSED);
    }

    @Nested
    class Limit {
        private final Promise promise = new LimitPromise();

        @Test
        void isKept() {
            assertKept(promise, log().operations(3, 0, ACQUIRE, ALLOWED).operations(3, 1_005, ACQUIRE, ALLOWED));
        }

        @Test
        void isBrokenByTheFirstCallAboveIt() {
            assertFirst(promise, log().operations(5, 0, ACQUIRE, ALLOWED), 4);
        }

        @Test
        void isKeptIfACallCanHaveBeenDecidedOutsideOfTheWindow() {
            assertKept(
                    promise,
                    log().operation(0, 0, 900, ACQUIRE, ALLOWED, 1, 0, 0)
                            .operations(2, 100, ACQUIRE, ALLOWED)
                            .operation(0, 800, 2_000, ACQUIRE, ALLOWED, 1, 0, 0));
        }

        @Test
        void allowsOneMoreLimitAfterALoss() {
            HistoryBuilder twice = log().operations(3, 0, ACQUIRE, ALLOWED)
                    .fault(Effect.LOSS, Fault.ALL, 10, 20)
                    .operations(3, 30, ACQUIRE, ALLOWED);
            assertKept(promise, twice);
            assertFirst(promise, twice.operation(40, ACQUIRE, ALLOWED), 7);
        }

        @Test
        void allowsLeasedPermitsAfterALoss() {
            for (int lease : new int[] {0, 1}) {
                HistoryBuilder leased = new HistoryBuilder(
                                Form.SLIDING_LOG, 3, SECOND, FailureMode.CLOSED, Map.of("lease", String.valueOf(lease)))
                        .fault(Effect.LOSS, Fault.ALL, 10, 20)
                        .operations(5, 30, ACQUIRE, ALLOWED);
                if (lease == 0) {
                    assertFirst(promise, leased, 4);
                } else {
                    assertKept(promise, leased);
                    assertFirst(promise, leased.operation(40, ACQUIRE, ALLOWED), 6);
                }
            }
        }

        @Test
        void allowsOneMoreLimitAfterAStepForwardOfRedis() {
            HistoryBuilder twice = log().operations(3, 0, ACQUIRE, ALLOWED)
                    .fault(Effect.AHEAD, Fault.ALL, 10, 20)
                    .operations(3, 30, ACQUIRE, ALLOWED);
            assertKept(promise, twice);
            assertFirst(promise, twice.operation(40, ACQUIRE, ALLOWED), 7);
        }

        @Test
        void allowsOneMoreCalendarLimitAfterAStepBackOfRedis() {
            for (Form form : List.of(Form.CALENDAR, Form.SLIDING_LOG)) {
                HistoryBuilder history = new HistoryBuilder(form, 3, SECOND, FailureMode.CLOSED)
                        .operations(3, 0, ACQUIRE, ALLOWED)
                        .fault(Effect.BEHIND, Fault.ALL, 10, 20)
                        .operations(6, 30, ACQUIRE, ALLOWED);
                assertThat(promise.check(history.build())).hasSize(form == Form.CALENDAR ? 0 : 1);
            }
        }

        @Test
        void ofAWindowIsBrokenOverSeveralWindows() {
            HistoryBuilder windows = new HistoryBuilder(Form.FIXED_WINDOW, 3, SECOND, FailureMode.CLOSED);
            for (int i = 0; i < 5; i++) {
                windows.operations(4, i * 1_000L, ACQUIRE, ALLOWED);
            }
            assertThat(promise.check(windows.build())).hasSize(1);
        }

        /** Returns a history with as many calls at the start of each window of a limit of 10. */
        private HistoryBuilder windows(int windows, int calls) {
            HistoryBuilder history = new HistoryBuilder(Form.FIXED_WINDOW, 10, SECOND, FailureMode.CLOSED);
            for (int i = 0; i < windows; i++) {
                history.operations(calls, i * 1_000L, ACQUIRE, ALLOWED);
            }
            return history;
        }

        @Test
        void needsMoreWindowsForASmallerExcess() {
            assertKept(promise, windows(3, 14));
            assertThat(promise.check(windows(5, 14).build())).hasSize(1);
            assertKept(promise, windows(19, 11));
            assertThat(promise.check(windows(20, 11).build())).hasSize(1);
        }
    }

    @Nested
    class Quotas {
        private final Promise promise = new QuotaPromise();

        /** Adds a call that takes a millisecond, with the remaining permits or the seconds of the wait. */
        private static HistoryBuilder call(HistoryBuilder history, long at, Outcome outcome, long value) {
            return history.operation(0, at, ACQUIRE, outcome, 1, 0, value);
        }

        /** Returns a history in which the limit is exhausted from 2 ms to 1,002 ms. */
        private static HistoryBuilder exhausted() {
            HistoryBuilder history = log();
            for (int i = 0; i < 3; i++) {
                call(history, i, ALLOWED, 2 - i);
            }
            return history;
        }

        @Test
        void areKept() {
            HistoryBuilder history = call(exhausted(), 10, REJECTED, 1);
            assertKept(promise, call(call(history, 900, REJECTED, 1), 1_012, ALLOWED, 2));
        }

        @Test
        void areBrokenByMorePermitsThanTheLimitLeaves() {
            assertFirst(promise, call(log(), 0, ALLOWED, 3), 1);
            assertFirst(promise, call(call(log(), 0, ALLOWED, 2), 10, ALLOWED, 2), 2);
            assertFirst(promise, call(log(), 0, ALLOWED, -1), 1);
        }

        @Test
        void haveThePermitsOfAnEarlierWindowAndThoseAfterALoss() {
            assertKept(promise, call(call(log(), 0, ALLOWED, 2), 1_010, ALLOWED, 2));
            HistoryBuilder lost = call(log(), 0, ALLOWED, 2).fault(Effect.LOSS, Fault.ALL, 2, 8);
            assertKept(promise, call(lost, 10, ALLOWED, 2));
        }

        @Test
        void ofAWindowAreOnlyBoundedByItsLimit() {
            HistoryBuilder history = new HistoryBuilder(Form.FIXED_WINDOW, 3, SECOND, FailureMode.CLOSED);
            assertKept(promise, call(call(history, 0, ALLOWED, 2), 10, ALLOWED, 2));
            assertFirst(promise, call(history, 20, ALLOWED, 3), 3);
        }

        @Test
        void areBrokenByARejectionWithoutAWait() {
            for (Outcome outcome : List.of(REJECTED, BLOCKED, DEGRADED_REJECTED)) {
                assertFirst(promise, call(exhausted(), 10, outcome, 0), 4);
            }
        }

        @Test
        void areBrokenByAWaitThatIsLongerThanTheWindows() {
            assertKept(promise, call(exhausted(), 10, REJECTED, 2));
            assertFirst(promise, call(exhausted(), 10, REJECTED, 3), 4);
            HistoryBuilder sliding = new HistoryBuilder(Form.SLIDING_WINDOW, 3, SECOND, FailureMode.CLOSED);
            assertKept(promise, call(sliding, 10, REJECTED, 3));
            assertFirst(promise, call(sliding, 20, REJECTED, 4), 2);
        }

        @Test
        void areBrokenByARejectionAfterTheWait() {
            assertFirst(promise, call(call(exhausted(), 10, REJECTED, 1), 1_013, REJECTED, 1), 5);
        }

        @Test
        void areKeptIfAnotherCallCanHaveSpentDuringTheWait() {
            for (Outcome outcome : List.of(ALLOWED, DEGRADED_ALLOWED, LOST)) {
                HistoryBuilder window = new HistoryBuilder(Form.FIXED_WINDOW, 3, SECOND, FailureMode.CLOSED);
                HistoryBuilder spent = call(call(window, 10, REJECTED, 1), 600, outcome, 0);
                assertKept(promise, call(spent, 1_013, REJECTED, 1));
            }
        }

        @Test
        void areKeptAfterAStepBackOfRedis() {
            HistoryBuilder stepped = call(exhausted(), 10, REJECTED, 1).fault(Effect.BEHIND, Fault.ALL, 12, 13);
            assertKept(promise, call(stepped, 1_013, REJECTED, 9));
        }

        /** The other instance has spent in a new window, before this one has repeated the wait of the former window. */
        @Test
        void areKeptIfAnInstanceRepeatsTheWaitOfLostState() {
            for (Effect effect : List.of(Effect.AHEAD, Effect.LOSS)) {
                HistoryBuilder window = new HistoryBuilder(Form.FIXED_WINDOW, 3, SECOND, FailureMode.CLOSED);
                call(call(window.fault(effect, Fault.ALL, 500, 510), 600, ALLOWED, 2), 700, REJECTED, 1);
                assertKept(promise, call(window, 1_703, REJECTED, 1));
            }
        }

        @Test
        void ofALeaseCanBeWithTheWaitOfAnotherInstance() {
            HistoryBuilder leased =
                    new HistoryBuilder(Form.SLIDING_LOG, 3, SECOND, FailureMode.CLOSED, Map.of("lease", "1"));
            assertKept(promise, call(call(leased, 10, REJECTED, 1), 1_013, REJECTED, 1));
        }
    }

    @Nested
    class Room {
        private final Promise promise = new RoomPromise();

        @Test
        void isKept() {
            assertKept(promise, log().operations(3, 0, ACQUIRE, ALLOWED).operation(500, ACQUIRE, REJECTED));
        }

        @Test
        void isBroken() {
            assertFirst(promise, log().operations(2, 0, ACQUIRE, ALLOWED).operation(500, ACQUIRE, REJECTED), 3);
            assertFirst(promise, log().operations(3, 0, ACQUIRE, ALLOWED).operation(1_500, ACQUIRE, REJECTED), 4);
        }

        @Test
        void canBeThatOfARejectionAfterTheDeadline() {
            HistoryBuilder late = log().operations(2, 0, ACQUIRE, ALLOWED);
            assertKept(promise, overdue(late, 350).operation(500, ACQUIRE, REJECTED));
            HistoryBuilder early = log().operations(2, 0, ACQUIRE, ALLOWED);
            assertFirst(promise, overdue(early, 349), 3);
        }

        private HistoryBuilder overdue(HistoryBuilder history, long end) {
            return history.operation(0, 100, end, ACQUIRE, REJECTED, 1, 0, 1);
        }

        @Test
        void canBeMissingForTheLongestStepBackOfRedisAndAWindowMore() {
            HistoryBuilder stepped = log().fault(Effect.BEHIND, Fault.ALL, 10, 20);
            assertKept(promise, stepped.operation(11_020, ACQUIRE, REJECTED));
            assertFirst(promise, stepped.operation(11_030, ACQUIRE, REJECTED), 2);
            HistoryBuilder twice =
                    log().fault(Effect.BEHIND, Fault.ALL, 10, 20).fault(Effect.BEHIND, Fault.ALL, 9_000, 9_010);
            assertKept(promise, twice.operation(21_020, ACQUIRE, REJECTED));
            assertFirst(promise, twice.operation(21_030, ACQUIRE, REJECTED), 2);
        }

        @Test
        void isThatOfAWindowAfterTheFirstDecisionThatFollowsAStepBackOfRedis() {
            HistoryBuilder stepped =
                    log().fault(Effect.BEHIND, Fault.ALL, 10, 20).operation(3_000, ACQUIRE, ALLOWED);
            assertKept(promise, stepped.operation(4_000, ACQUIRE, REJECTED));
            assertFirst(promise, stepped.operation(4_010, ACQUIRE, REJECTED), 3);
            HistoryBuilder rejected = log().fault(Effect.BEHIND, Fault.ALL, 10, 20)
                    .operation(1_000, ACQUIRE, REJECTED) // an instance can repeat it
                    .operation(1_500, ACQUIRE, REJECTED);
            assertKept(promise, rejected.operation(2_500, ACQUIRE, REJECTED));
            assertFirst(promise, rejected.operation(2_510, ACQUIRE, REJECTED), 4);
            HistoryBuilder leased = new HistoryBuilder(
                            Form.FIXED_WINDOW, 10, SECOND, FailureMode.CLOSED, Map.of("lease", "2"))
                    .fault(Effect.BEHIND, Fault.ALL, 10, 20)
                    .operation(3_000, ACQUIRE, ALLOWED); // an instance can have decided it
            assertKept(promise, leased.operation(11_020, ACQUIRE, REJECTED));
        }

        @Test
        void ofABucketReturnsWithTime() {
            for (Form form : List.of(Form.TOKEN_BUCKET, Form.LEAKY_BUCKET)) {
                HistoryBuilder bucket = new HistoryBuilder(form, 10, SECOND, FailureMode.CLOSED)
                        .operations(10, 0, ACQUIRE, ALLOWED)
                        .operation(50, ACQUIRE, REJECTED);
                assertKept(promise, bucket);
                assertKept(promise, bucket.operation(100, ACQUIRE, REJECTED));
                assertFirst(promise, bucket.operation(112, ACQUIRE, REJECTED), 13);
            }
        }

        @Test
        void ofABucketIsThatOfItsWholePast() {
            HistoryBuilder bucket = new HistoryBuilder(Form.TOKEN_BUCKET, 10, SECOND, FailureMode.CLOSED);
            bucket.operations(10, 0, ACQUIRE, ALLOWED);
            for (int i = 1; i <= 30; i++) {
                bucket.operation(i * 100L + 10, ACQUIRE, ALLOWED);
            }
            assertKept(promise, bucket.operation(3_050, ACQUIRE, REJECTED));
            assertFirst(promise, bucket.operation(3_150, ACQUIRE, REJECTED), 42);
        }

        /** Degraded calls can have spent no more than the bucket held. */
        @Test
        void ofABucketIsNeverLessThanItsCapacity() {
            HistoryBuilder bucket = new HistoryBuilder(Form.TOKEN_BUCKET, 10, SECOND, FailureMode.CLOSED)
                    .operations(1_000, 0, ACQUIRE, DEGRADED_REJECTED);
            assertKept(promise, bucket.operation(5_900, ACQUIRE, REJECTED));
            assertFirst(promise, bucket.operation(6_200, ACQUIRE, REJECTED), 1_002);
        }

        @Test
        void ofABucketCanBeMissingAfterAStepBackOfRedis() {
            HistoryBuilder stepped = new HistoryBuilder(Form.TOKEN_BUCKET, 10, SECOND, FailureMode.CLOSED)
                    .fault(Effect.BEHIND, Fault.ALL, 10, 20);
            assertKept(promise, stepped.operation(11_020, ACQUIRE, REJECTED));
            assertFirst(promise, stepped.operation(11_030, ACQUIRE, REJECTED), 2);
        }

        @Test
        void ofACalendarLimitIsThatOfOnePeriodAtLeast() {
            HistoryBuilder period =
                    new HistoryBuilder(Form.CALENDAR, 3, SECOND, FailureMode.CLOSED).operations(3, 0, ACQUIRE, ALLOWED);
            assertKept(promise, period.operation(500, ACQUIRE, REJECTED));
            assertFirst(promise, period.operation(1_500, ACQUIRE, REJECTED), 5);
        }

        @Test
        void ofALeasedKeyCanHaveTheLeasesOfAllInstancesUnused() {
            HistoryBuilder leased =
                    new HistoryBuilder(Form.FIXED_WINDOW, 10, SECOND, FailureMode.CLOSED, Map.of("lease", "2"));
            assertKept(promise, leased.operations(6, 0, ACQUIRE, ALLOWED).operation(10, ACQUIRE, REJECTED));
            // A rejection from memory is repeated for 20 ms.
            assertKept(promise, leased.operation(1_015, ACQUIRE, REJECTED));
            assertFirst(promise, leased.operation(1_030, ACQUIRE, REJECTED), 9);
        }

        @Test
        void ofALeasedKeyCanBeMissingAfterALostReplyAndAKilledInstance() {
            for (Effect effect : List.of(Effect.OUTAGE, Effect.DEATH)) {
                HistoryBuilder leased = new HistoryBuilder(
                                Form.FIXED_WINDOW, 10, SECOND, FailureMode.CLOSED, Map.of("lease", "2"))
                        .fault(effect, 1, 10, 20);
                assertKept(promise, leased.operation(2_015, ACQUIRE, REJECTED));
                assertFirst(promise, leased.operation(2_025, ACQUIRE, REJECTED), 2);
            }
        }

        @Test
        void isKeptIfCallsWithoutAReplyCanHaveSpent() {
            assertKept(
                    promise,
                    log().operations(2, 0, ACQUIRE, ALLOWED)
                            .operation(3, ACQUIRE, DEGRADED_REJECTED)
                            .operation(500, ACQUIRE, REJECTED));
            assertKept(
                    promise,
                    log().operations(2, 0, ACQUIRE, ALLOWED)
                            .operation(3, ACQUIRE, LOST)
                            .operation(500, ACQUIRE, REJECTED));
        }
    }

    private static Policy other(long permits, Duration window, String mode) {
        return new Policy(
                "q",
                Form.FIXED_WINDOW,
                permits,
                window,
                0,
                FailureMode.CLOSED,
                Map.of("key", "header:q", "mode", mode));
    }

    private static HistoryBuilder withOwnKeys(long permits, Duration window) {
        return new HistoryBuilder(Form.FIXED_WINDOW, permits, window, FailureMode.CLOSED, Map.of("key", "header:p"));
    }

    @Nested
    class AllOrNothing {
        private final Promise promise = new JointPromise.AllOrNothing();
        private final Policy limit = other(1, SECOND, "enforce");

        /** Returns a history in which the other limit has room for the first call, and not for the second one. */
        private HistoryBuilder exhausted() {
            return withOwnKeys(1_000, MINUTE).joint(0, ALLOWED, limit, ALLOWED).joint(10, REJECTED, limit, REJECTED);
        }

        private static HistoryBuilder spent(HistoryBuilder history, long at, long permits) {
            return history.operation(0, at, PEEK, DONE, 0, 0, permits);
        }

        @Test
        void isKept() {
            assertKept(promise, spent(exhausted(), 5_000, 1));
            assertKept(promise, spent(exhausted().joint(20, DEGRADED_REJECTED, limit, DEGRADED_REJECTED), 5_000, 2));
        }

        @Test
        void isBrokenByAPartThatStaysSpent() {
            assertFirst(promise, spent(exhausted(), 5_000, 2), 5);
        }

        @Test
        void isBrokenByAPartThatIsNotSpent() {
            assertFirst(promise, spent(exhausted(), 5_000, 0), 5);
        }

        @Test
        void isKeptUntilTheRefundOfAPart() {
            assertKept(promise, spent(exhausted(), 2_000, 2));
            assertFirst(promise, spent(exhausted().fault(Effect.PAUSE, 0, 5, 4_000), 8_000, 2), 5);
            assertKept(promise, spent(exhausted().fault(Effect.PAUSE, 0, 5, 4_000), 6_000, 2));
        }

        @Test
        void isKeptWithoutARefundAfterAnOutage() {
            assertKept(promise, spent(exhausted().fault(Effect.OUTAGE, 0, 12, 20), 30_000, 2));
        }

        @Test
        void isBrokenByARejectionAlthoughBothHaveRoom() {
            assertFirst(promise, withOwnKeys(1_000, MINUTE).joint(0, REJECTED, limit, REJECTED), 1);
            assertFirst(promise, exhausted().joint(5_000, REJECTED, limit, REJECTED), 5);
            assertKept(promise, exhausted().joint(900, REJECTED, limit, REJECTED));
        }
    }

    @Nested
    class Shadow {
        private final Promise promise = new JointPromise.Shadow();
        private final Policy trial = other(1, SECOND, "shadow");
        private final Policy audit = other(1_000, MINUTE, "shadow");

        @Test
        void isKept() {
            assertKept(
                    promise,
                    withOwnKeys(1_000, MINUTE).joint(0, ALLOWED, trial, ALLOWED).joint(10, ALLOWED, trial, REJECTED));
        }

        @Test
        void isBrokenByARejectionOfACall() {
            HistoryBuilder rejected =
                    withOwnKeys(1_000, MINUTE).joint(0, ALLOWED, trial, ALLOWED).joint(10, REJECTED, trial, REJECTED);
            assertFirst(promise, rejected, 3);
        }

        @Test
        void isBrokenByAReportedRejectionWithRoom() {
            assertFirst(promise, withOwnKeys(1_000, MINUTE).joint(0, ALLOWED, trial, REJECTED), 2);
        }

        @Test
        void isBrokenIfItSpendsForARejectedCall() {
            HistoryBuilder rejected =
                    withOwnKeys(1, MINUTE).joint(0, ALLOWED, audit, ALLOWED).joint(10, REJECTED, audit, REJECTED);
            assertKept(promise, rejected.peek(5_000, audit, 1));
            assertFirst(promise, rejected.peek(5_010, audit, 2), 6);
        }

        @Test
        void canSpendWithoutAResult() {
            for (long spent = 0; spent < 2; spent++) {
                assertKept(
                        promise,
                        withOwnKeys(1_000, MINUTE)
                                .joint(0, ALLOWED, audit, FAILED)
                                .peek(5_000, audit, spent));
            }
        }
    }

    @Nested
    class Account {
        private final Promise promise = new AccountPromise();

        private HistoryBuilder account() {
            return new HistoryBuilder(Form.FIXED_WINDOW, 1_000, MINUTE, FailureMode.CLOSED);
        }

        private HistoryBuilder spent(HistoryBuilder history, long at, long permits) {
            return history.operation(0, at, PEEK, DONE, 0, 0, permits);
        }

        @Test
        void isKept() {
            HistoryBuilder history = account().operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0);
            spent(history, 10, 5);
            spent(history.operation(0, 20, SETTLE, DONE, 7, 1, 0), 30, 7);
            spent(history.operation(0, 40, SETTLE, DONE, 9, 1, 0), 50, 7);
            spent(history.operation(0, 60, ACQUIRE, ALLOWED, 2, 0, 0), 70, 9);
            spent(
                    history.operation(
                            0, 80, REFUND, DONE, 0, history.build().operations().size() - 1L, 0),
                    90,
                    7);
            assertKept(promise, history);
        }

        @Test
        void isBrokenByACallThatSpendsTwiceOrNothing() {
            assertFirst(promise, spent(account().operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0), 10, 10), 2);
            assertFirst(promise, spent(account().operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0), 10, 0), 2);
            assertFirst(promise, spent(account().operation(0, 0, ACQUIRE, REJECTED, 5, 0, 0), 10, 5), 2);
        }

        @Test
        void isBrokenByALostRefund() {
            assertFirst(
                    promise,
                    spent(
                            account().operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0).operation(0, 5, REFUND, DONE, 0, 1, 0),
                            10,
                            5),
                    3);
        }

        @Test
        void allowsBothResultsOfACallWithoutAReply() {
            assertKept(promise, spent(account().operation(0, 0, ACQUIRE, DEGRADED_REJECTED, 5, 0, 0), 10, 0));
            assertKept(promise, spent(account().operation(0, 0, ACQUIRE, DEGRADED_REJECTED, 5, 0, 0), 10, 5));
            assertFirst(promise, spent(account().operation(0, 0, ACQUIRE, LOST, 5, 0, 0), 10, 6), 2);
        }

        @Test
        void beginsAgainAfterALoss() {
            HistoryBuilder history = account()
                    .operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0)
                    .fault(Effect.LOSS, Fault.ALL, 10, 20)
                    .operation(0, 30, ACQUIRE, ALLOWED, 2, 0, 0);
            assertKept(promise, spent(history, 40, 2));
            assertFirst(promise, spent(history, 50, 7), 4);
            HistoryBuilder unknown = account()
                    .operation(0, 0, ACQUIRE, DEGRADED_REJECTED, 5, 0, 0)
                    .fault(Effect.LOSS, Fault.ALL, 10, 20);
            assertKept(promise, spent(unknown, 40, 5));
        }

        @Test
        void keepsWhatWasThereBeforeAFailover() {
            HistoryBuilder history = account()
                    .operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0)
                    .operation(0, 15, ACQUIRE, ALLOWED, 2, 0, 0)
                    .failover(10, 20);
            assertKept(promise, spent(history, 40, 5));
            assertKept(promise, spent(history, 50, 7));
            assertFirst(promise, spent(history, 60, 4), 5);
        }

        @Test
        void canLoseARefundInAFailover() {
            HistoryBuilder history =
                    account().operation(0, 0, ACQUIRE, ALLOWED, 5, 0, 0).operation(0, 15, REFUND, DONE, 0, 1, 0);
            assertFirst(promise, spent(history, 40, 5), 3);
            assertKept(promise, spent(history.failover(10, 20), 40, 5));
        }
    }

    @Nested
    class Slots {
        private final Promise calls = SlotsPromise.calls();
        private final Promise back = SlotsPromise.back();

        private HistoryBuilder slots() {
            return new HistoryBuilder(Form.CONCURRENCY, 2, MINUTE, FailureMode.CLOSED);
        }

        @Test
        void areKept() {
            HistoryBuilder history = slots().operations(2, 0, ACQUIRE, ALLOWED)
                    .operation(5, ACQUIRE, REJECTED)
                    .operation(0, 10, RELEASE, DONE, 1, 1, 0)
                    .operation(20, ACQUIRE, ALLOWED);
            assertKept(calls, history);
            assertKept(back, history);
        }

        @Test
        void areBrokenByOneMoreCall() {
            assertFirst(calls, slots().operations(3, 0, ACQUIRE, ALLOWED), 3);
        }

        @Test
        void canBeLostInALongPauseOnly() {
            assertFirst(
                    calls,
                    slots().operations(2, 0, ACQUIRE, ALLOWED)
                            .fault(Effect.PAUSE, 0, 10, 30_000)
                            .operation(1, 40_000, ACQUIRE, ALLOWED, 1, 0, 0),
                    3);
            assertKept(
                    calls,
                    slots().operations(2, 0, ACQUIRE, ALLOWED)
                            .fault(Effect.PAUSE, 0, 10, 60_000)
                            .operation(1, 61_000, ACQUIRE, ALLOWED, 1, 0, 0));
            assertFirst(
                    calls,
                    slots().operations(2, 0, ACQUIRE, ALLOWED)
                            .fault(Effect.PAUSE, 1, 10, 60_000)
                            .operation(1, 61_000, ACQUIRE, ALLOWED, 1, 0, 0),
                    3);
        }

        @Test
        void areLostWithTheData() {
            assertKept(
                    calls,
                    slots().operations(2, 0, ACQUIRE, ALLOWED)
                            .fault(Effect.LOSS, Fault.ALL, 10, 20)
                            .operation(30, ACQUIRE, ALLOWED));
        }

        @Test
        void mustComeBack() {
            HistoryBuilder released =
                    slots().operations(2, 0, ACQUIRE, ALLOWED).operation(0, 10, RELEASE, DONE, 1, 1, 0);
            assertKept(back, released.operation(5_000, ACQUIRE, REJECTED));
            assertFirst(back, released.operation(11_000, ACQUIRE, REJECTED), 5);
        }

        @Test
        void releasedInAFailoverComeBackAfterTheTimeout() {
            HistoryBuilder released = slots().operations(2, 0, ACQUIRE, ALLOWED)
                    .failover(5, 2_000)
                    .operation(0, 10, RELEASE, DONE, 1, 1, 0);
            assertKept(back, released.operation(0, 71_000, ACQUIRE, REJECTED, 1, 0, 0));
            assertFirst(back, released.operation(0, 73_000, ACQUIRE, REJECTED, 1, 0, 0), 5);
        }

        @Test
        void comeBackAfterAnOutage() {
            HistoryBuilder released = slots().operations(2, 0, ACQUIRE, ALLOWED)
                    .fault(Effect.OUTAGE, 0, 5, 8_000)
                    .operation(0, 10, RELEASE, DONE, 1, 1, 0);
            assertKept(back, released.operation(0, 17_000, ACQUIRE, REJECTED, 1, 0, 0));
            assertFirst(back, released.operation(0, 18_500, ACQUIRE, REJECTED, 1, 0, 0), 5);
        }

        @Test
        void ofADeadInstanceComeBackAfterTheTimeout() {
            HistoryBuilder dead = slots().operations(2, 0, ACQUIRE, ALLOWED).fault(Effect.DEATH, 0, 10, 1_000);
            assertKept(back, dead.operation(1, 60_000, ACQUIRE, REJECTED, 1, 0, 0));
            assertFirst(back, dead.operation(1, 72_000, ACQUIRE, REJECTED, 1, 0, 0), 4);
        }

        @Test
        void areLostAndComeBackLaterWithAStepOfRedis() {
            assertKept(
                    calls,
                    slots().operations(2, 0, ACQUIRE, ALLOWED)
                            .fault(Effect.AHEAD, Fault.ALL, 10, 20)
                            .operation(30, ACQUIRE, ALLOWED));
            HistoryBuilder dead = slots().operations(2, 0, ACQUIRE, ALLOWED)
                    .fault(Effect.DEATH, 0, 10, 1_000)
                    .fault(Effect.BEHIND, Fault.ALL, 20, 30);
            assertKept(back, dead.operation(1, 80_000, ACQUIRE, REJECTED, 1, 0, 0));
            assertFirst(back, dead.operation(1, 82_000, ACQUIRE, REJECTED, 1, 0, 0), 4);
        }

        @Test
        void ofACallWithoutAReplyComeBack() {
            HistoryBuilder lost = slots().operations(2, 0, ACQUIRE, DEGRADED_REJECTED);
            assertKept(back, lost.operation(9_000, ACQUIRE, REJECTED));
            assertFirst(back, lost.operation(11_000, ACQUIRE, REJECTED), 4);
        }
    }

    @Nested
    class Modes {
        private final Promise promise = new FailureModePromise();

        @Test
        void areKeptAndBroken() {
            for (FailureMode mode : List.of(FailureMode.OPEN, FailureMode.CLOSED)) {
                HistoryBuilder history = new HistoryBuilder(Form.FIXED_WINDOW, 4, SECOND, mode);
                boolean allows = mode == FailureMode.OPEN;
                assertKept(promise, history.operation(0, ACQUIRE, allows ? DEGRADED_ALLOWED : DEGRADED_REJECTED));
                assertFirst(promise, history.operation(5, ACQUIRE, allows ? DEGRADED_REJECTED : DEGRADED_ALLOWED), 2);
            }
        }

        @Test
        void allowAShareOfEachInstance() {
            HistoryBuilder history = new HistoryBuilder(Form.SLIDING_LOG, 4, SECOND, FailureMode.LOCAL);
            for (int instance = 0; instance < 2; instance++) {
                history.operation(instance, 0, ACQUIRE, DEGRADED_ALLOWED, 1, 0, 0)
                        .operation(instance, 1, ACQUIRE, DEGRADED_ALLOWED, 1, 0, 0);
            }
            assertKept(promise, history);
            assertFirst(promise, history.operation(1, 10, ACQUIRE, DEGRADED_ALLOWED, 1, 0, 0), 5);
        }

        @Test
        void countAnewAfterARestartAndAStepOfTheClock() {
            for (Effect effect : List.of(Effect.DEATH, Effect.STEP)) {
                HistoryBuilder history = new HistoryBuilder(Form.SLIDING_LOG, 4, Duration.ofHours(1), FailureMode.LOCAL)
                        .operations(2, 0, ACQUIRE, DEGRADED_ALLOWED)
                        .fault(effect, 0, 10, 20)
                        .operations(2, 5_000, ACQUIRE, DEGRADED_ALLOWED);
                assertKept(promise, history);
                assertFirst(promise, history.operation(5_010, ACQUIRE, DEGRADED_ALLOWED), 5);
            }
        }
    }

    @Nested
    class Deadline {
        @Test
        void isKeptAndBroken() {
            HistoryBuilder history = log().operation(0, 0, 300, ACQUIRE, DEGRADED_REJECTED, 1, 0, 0);
            assertKept(new DeadlinePromise(), history);
            assertFirst(new DeadlinePromise(), history.operation(0, 0, 3_000, ACQUIRE, DEGRADED_REJECTED, 1, 0, 0), 2);
        }

        @Test
        void doesNotIncludeCallsInASlowStart() {
            HistoryBuilder history = log().operation(0, 5_000, 8_000, ACQUIRE, DEGRADED_REJECTED, 1, 0, 0)
                    .slow(Fault.SLOW_MACHINE, 0, 0, 9_000)
                    .slow(Fault.SLOW_START, 1, 0, 9_000)
                    .slow(Fault.SLOW_START, 0, 9_000, 15_000);
            assertFirst(new DeadlinePromise(), history, 1);
            assertKept(new DeadlinePromise(), history.slow(Fault.SLOW_START, 0, 0, 5_001));
        }
    }

    @Nested
    class Recovery {
        private final Promise promise = new RecoveryPromise();

        private HistoryBuilder used() {
            return log().operation(0, ACQUIRE, ALLOWED).fault(Effect.OUTAGE, 0, 10, 5_000);
        }

        @Test
        void isKept() {
            assertKept(
                    promise, used().operation(8_700, ACQUIRE, DEGRADED_REJECTED).operation(8_750, ACQUIRE, ALLOWED));
            assertKept(promise, used().operation(9_000, ACQUIRE, ALLOWED).operation(9_100, ACQUIRE, DEGRADED_REJECTED));
        }

        @Test
        void isBrokenIfSingleCallsPass() {
            HistoryBuilder history = used();
            for (long at = 8_000; at < 12_000; at += 100) {
                history.operation(at, ACQUIRE, at % 1_000 == 0 ? ALLOWED : DEGRADED_REJECTED);
            }
            assertThat(promise.check(history.build())).hasSize(1);
        }

        @Test
        void isBrokenByACallThatRedisDoesNotDecide() {
            assertFirst(promise, used().operation(8_800, ACQUIRE, DEGRADED_REJECTED), 2);
            assertKept(promise, used().operation(1, 8_800, ACQUIRE, ALLOWED, 1, 0, 0));
        }
    }

    @Nested
    class Blocks {
        private final Promise promise = new BlockPromise();

        private HistoryBuilder blocked() {
            return log().operation(0, 0, BLOCK, DONE, Duration.ofSeconds(2).toNanos(), 0, 0);
        }

        @Test
        void areKept() {
            assertKept(promise, blocked().operation(100, ACQUIRE, BLOCKED).operation(2_100, ACQUIRE, ALLOWED));
        }

        @Test
        void areBrokenByAnAllowedCall() {
            assertFirst(promise, blocked().operation(100, ACQUIRE, ALLOWED), 2);
        }

        @Test
        void areBrokenByARejectionWithoutABlock() {
            assertFirst(promise, log().operation(100, ACQUIRE, BLOCKED), 1);
            assertFirst(promise, blocked().operation(2_500, ACQUIRE, BLOCKED), 2);
            assertFirst(
                    promise,
                    log().operation(0, 0, BLOCK, DONE, MINUTE.toNanos(), 0, 0)
                            .operation(10, UNBLOCK, DONE)
                            .operation(5_000, ACQUIRE, BLOCKED),
                    3);
            HistoryBuilder unknown = log().operation(0, 0, BLOCK, FAILED, SECOND.toNanos(), 0, 0);
            assertKept(promise, unknown.operation(5_500, ACQUIRE, BLOCKED));
            assertFirst(promise, unknown.operation(6_500, ACQUIRE, BLOCKED), 3);
        }

        @Test
        void areLostWithTheData() {
            assertKept(promise, blocked().fault(Effect.LOSS, Fault.ALL, 50, 60).operation(100, ACQUIRE, ALLOWED));
        }

        @Test
        void endWithAStepOfRedis() {
            assertKept(promise, blocked().fault(Effect.AHEAD, Fault.ALL, 50, 60).operation(100, ACQUIRE, ALLOWED));
            HistoryBuilder later = blocked().fault(Effect.BEHIND, Fault.ALL, 50, 60);
            assertKept(promise, later.operation(11_500, ACQUIRE, BLOCKED));
            assertFirst(promise, later.operation(12_500, ACQUIRE, BLOCKED), 3);
        }

        @Test
        void canEndOrBeginWithAnOperationWithoutAReplyThatRedisRunsLater() {
            HistoryBuilder unblocked = log().operation(0, UNBLOCK, FAILED)
                    .operation(1, 500, BLOCK, DONE, Duration.ofSeconds(10).toNanos(), 0, 0)
                    .operation(1_000, ACQUIRE, ALLOWED);
            assertKept(promise, unblocked);
            HistoryBuilder blocked = log().operation(0, 0, BLOCK, FAILED, MINUTE.toNanos(), 0, 0)
                    .operation(100, UNBLOCK, DONE)
                    .operation(5_500, ACQUIRE, BLOCKED);
            assertKept(promise, blocked);
            assertFirst(promise, blocked.operation(5_600, UNBLOCK, DONE).operation(8_000, ACQUIRE, BLOCKED), 5);
        }

        @Test
        void comeBackIfAFailoverUndoesTheUnblock() {
            HistoryBuilder history = log().operation(0, 0, BLOCK, DONE, MINUTE.toNanos(), 0, 0)
                    .operation(1_000, UNBLOCK, DONE)
                    .operation(9_000, ACQUIRE, BLOCKED);
            assertFirst(promise, history, 3);
            assertKept(promise, history.failover(900, 2_000));
        }
    }

    @Nested
    class Thresholds {
        private final Promise promise = new ThresholdPromise();

        private HistoryBuilder shares() {
            return new HistoryBuilder(
                    Form.FIXED_WINDOW, 4, Duration.ofSeconds(4), FailureMode.CLOSED, Map.of("notify-at", "50%"));
        }

        private HistoryBuilder event(HistoryBuilder history, int instance, long at, long periodEnd) {
            return history.operation(
                    instance,
                    at,
                    THRESHOLD,
                    DONE,
                    Duration.ofMillis(periodEnd - at).toNanos(),
                    0,
                    50);
        }

        @Test
        void areKept() {
            HistoryBuilder history = event(shares(), 0, 100, 4_000);
            assertKept(promise, event(history, 1, 4_100, 8_000).operation(4_200, ACQUIRE, REJECTED));
        }

        @Test
        void areBrokenByASecondEventOfAPeriod() {
            assertFirst(promise, event(event(shares(), 0, 100, 4_000), 1, 200, 4_010), 2);
            assertKept(
                    promise,
                    event(event(shares(), 0, 100, 4_000), 1, 200, 4_010).fault(Effect.OUTAGE, 0, 150, 160));
            assertFirst(
                    promise,
                    event(event(shares(), 0, 100, 4_000), 1, 200, 4_010).fault(Effect.DEATH, 0, 150, 160),
                    2);
        }

        @Test
        void areBrokenByAMissingEvent() {
            assertFirst(promise, shares().operation(20_000, ACQUIRE, REJECTED), 1);
            assertFirst(promise, shares().fault(Effect.STEP, 0, 10, 30_000).operation(20_000, ACQUIRE, REJECTED), 1);
            assertKept(promise, shares().fault(Effect.STEP, 0, 10, 15_000).operation(20_000, ACQUIRE, REJECTED));
            assertKept(promise, shares().fault(Effect.OUTAGE, 0, 19_000, 19_100).operation(20_000, ACQUIRE, REJECTED));
            assertFirst(
                    promise,
                    shares().fault(Effect.LOSS, Fault.ALL, 19_000, 19_100).operation(20_000, ACQUIRE, REJECTED),
                    1);
        }
    }

    @Nested
    class Penalties {
        private final Promise promise = new PenaltyPromise();

        private HistoryBuilder penalized() {
            return new HistoryBuilder(
                    Form.FIXED_WINDOW,
                    4,
                    SECOND,
                    FailureMode.CLOSED,
                    Map.of("penalty.after", "20/2s", "penalty.max", "2s"));
        }

        private HistoryBuilder event(HistoryBuilder history, int instance, long at) {
            return history.operation(instance, at, PENALTY, DONE, SECOND.toNanos(), 0, 0);
        }

        private HistoryBuilder silent() {
            return penalized().operation(5_000, ACQUIRE, BLOCKED);
        }

        /** Adds rejections and the event after them: 21 operations. */
        private HistoryBuilder penalty(HistoryBuilder history, long at) {
            return event(history.operations(20, at - 50, ACQUIRE, REJECTED), 0, at);
        }

        @Test
        void areKept() {
            HistoryBuilder history = penalty(penalized(), 100).operation(500, ACQUIRE, BLOCKED);
            assertKept(promise, penalty(history, 1_200).operation(1_300, ACQUIRE, BLOCKED));
        }

        @Test
        void areBrokenByASecondEvent() {
            assertFirst(promise, event(penalty(penalized(), 100), 1, 200), 22);
            assertFirst(promise, event(penalty(penalized(), 100), 1, 200).fault(Effect.OUTAGE, 0, 150, 160), 22);
            assertKept(promise, event(penalty(penalized(), 100), 1, 200).fault(Effect.OUTAGE, 0, 50, 60));
            assertKept(promise, event(penalty(penalized(), 100), 1, 200).fault(Effect.LOSS, Fault.ALL, 150, 160));
            assertKept(promise, event(penalty(penalized(), 100), 1, 200).fault(Effect.AHEAD, Fault.ALL, 150, 160));
        }

        @Test
        void blockLongerAfterAStepBackOfRedis() {
            HistoryBuilder blocked = penalty(penalized(), 100).operation(9_000, ACQUIRE, BLOCKED);
            assertFirst(promise, blocked, 22);
            assertKept(promise, blocked.fault(Effect.BEHIND, Fault.ALL, 200, 210));
        }

        @Test
        void areBrokenByTooFewRejections() {
            assertFirst(promise, event(penalized().operations(19, 0, ACQUIRE, REJECTED), 0, 100), 20);
            assertFirst(promise, event(penalty(penalized(), 100), 0, 20_000), 22);
            HistoryBuilder late = event(penalized().operations(20, 0, ACQUIRE, REJECTED), 0, 6_000);
            assertFirst(promise, late, 21);
            assertKept(promise, late.fault(Effect.BEHIND, Fault.ALL, 500, 510));
        }

        @Test
        void areBrokenByAMissingEvent() {
            HistoryBuilder silent = silent();
            assertFirst(promise, silent, 1);
            assertKept(promise, silent.fault(Effect.OUTAGE, 0, 4_000, 4_100));
            assertFirst(promise, silent().fault(Effect.OUTAGE, 0, -100, -1), 1);
            assertKept(promise, silent().fault(Effect.OUTAGE, 0, -100, -1).fault(Effect.BEHIND, Fault.ALL, 400, 401));
        }
    }

    @Nested
    class Lives {
        @Test
        void endExceptThoseOfChanges() {
            HistoryBuilder history = log().operation(0, 0, KEY, DONE, 0, 0, 5);
            assertKept(new LifePromise(), history);
            assertFirst(new LifePromise(), history.operation(0, 10, KEY, DONE, 0, 0, -1), 2);
        }
    }

    @Nested
    class Changes {
        private final Promise promise = new ChangePromise();

        private HistoryBuilder change(HistoryBuilder history, long at, long limit) {
            return history.operation(0, at, CHANGE, DONE, limit, 0, 1);
        }

        private HistoryBuilder read(HistoryBuilder history, int instance, long at, long limit) {
            return history.operation(instance, at, READ, DONE, 0, 0, limit);
        }

        @Test
        void areKept() {
            HistoryBuilder history = read(log(), 1, 0, 3);
            change(history, 100, 50);
            read(history, 1, 1_000, 3);
            read(history, 1, 9_000, 50);
            change(history, 10_000, 3);
            assertKept(promise, read(history, 1, 19_000, 3));
        }

        @Test
        void areBrokenByAnInstanceThatDoesNotApplyThem() {
            assertFirst(promise, read(change(log(), 100, 50), 1, 9_000, 3), 2);
        }

        @Test
        void areBrokenByAnEarlierChangeThatComesBack() {
            assertFirst(promise, read(change(change(log(), 100, 50), 200, 60), 1, 9_000, 50), 3);
        }

        @Test
        void applyAfterAnOutage() {
            HistoryBuilder away = change(log(), 100, 50).fault(Effect.OUTAGE, 1, 50, 8_000);
            assertKept(promise, read(away, 1, 12_000, 3));
            assertFirst(promise, read(away, 1, 13_000, 3), 3);
        }

        @Test
        void applyToAnInstanceThatStartsUnlessRedisIsAway() {
            HistoryBuilder started = change(log(), 100, 50).fault(Effect.DEATH, 1, 8_000, 8_900);
            assertFirst(promise, read(started, 1, 9_000, 3), 2);
            assertKept(
                    promise,
                    read(change(log(), 100, 50).fault(Effect.DEATH, 1, 8_000, 8_900), 1, 9_000, 3)
                            .fault(Effect.OUTAGE, 1, 8_500, 8_800));
        }

        @Test
        void canBeLostWithTheDataUntilTheNextOne() {
            HistoryBuilder lost = change(log(), 100, 50).fault(Effect.LOSS, Fault.ALL, 200, 300);
            assertKept(promise, read(lost, 1, 9_000, 3));
            assertFirst(promise, read(change(lost, 10_000, 60), 1, 19_000, 3), 4);
        }

        @Test
        void areUnknownWithoutAReply() {
            HistoryBuilder failed = change(log(), 100, 50).operation(0, 200, CHANGE, FAILED, 60, 0, 0);
            assertKept(promise, read(failed, 1, 9_000, 60));
            assertKept(promise, read(failed, 1, 9_500, 50));
            assertFirst(promise, read(failed, 1, 10_000, 70), 5);
        }
    }

    @Nested
    class Pauses {
        private static final long PAUSE_NANOS = 3_000_000_000L;

        private final Promise promise = new PausePromise();

        /** A call of instance 0 at 0, and a 429 to it at 10. */
        private HistoryBuilder paused() {
            return answered(sent(0, 0, ALLOWED), 10, 1);
        }

        private HistoryBuilder answered(HistoryBuilder history, long at, long call) {
            return history.operation(0, at, ANSWER, DONE, PAUSE_NANOS, call, 0);
        }

        private HistoryBuilder sent(int instance, long at, Operation.Outcome outcome) {
            return sent(
                    new HistoryBuilder(Form.FIXED_WINDOW, 1_000_000, MINUTE, FailureMode.OPEN), instance, at, outcome);
        }

        private HistoryBuilder sent(HistoryBuilder history, int instance, long at, Operation.Outcome outcome) {
            return history.operation(instance, at, SEND, outcome, 1, 0, 0);
        }

        @Test
        void areKept() {
            HistoryBuilder history = sent(sent(paused(), 0, 20, REJECTED), 1, 3_000, REJECTED);
            assertKept(promise, sent(history, 1, 3_015, ALLOWED));
        }

        @Test
        void areBrokenByACallOfAnyInstance() {
            assertFirst(promise, sent(paused(), 0, 20, ALLOWED), 3);
            assertFirst(promise, sent(paused(), 1, 2_900, ALLOWED), 3);
        }

        @Test
        void areBrokenByARejectionWithoutAPause() {
            assertFirst(promise, sent(paused(), 1, 3_300, REJECTED), 3);
            assertFirst(promise, sent(0, 0, REJECTED), 1);
        }

        @Test
        void areKeptByTheirInstanceWithoutRedis() {
            assertFirst(promise, sent(paused(), 0, 20, DEGRADED_ALLOWED), 3);
            assertKept(promise, sent(paused(), 1, 20, DEGRADED_ALLOWED));
            assertKept(promise, sent(paused(), 0, 20, DEGRADED_REJECTED));
        }

        @Test
        void thatAreNotStoredAreThoseOfTheirInstance() {
            HistoryBuilder outage = paused().fault(Effect.OUTAGE, 0, 5, 15);
            assertKept(promise, sent(outage, 1, 20, ALLOWED));
            assertFirst(promise, sent(outage, 0, 30, ALLOWED), 4);
        }

        @Test
        void areStoredWithTheNextCallAfterAnOutage() {
            HistoryBuilder outage = sent(0, 0, ALLOWED)
                    .operation(0, 10, ANSWER, DONE, 3 * PAUSE_NANOS, 1, 0)
                    .fault(Effect.OUTAGE, 0, 5, 1_000);
            assertKept(promise, sent(outage, 1, 4_500, ALLOWED));
            assertFirst(promise, sent(sent(outage, 0, 4_600, REJECTED), 1, 4_700, ALLOWED), 5);
        }

        @Test
        void areLostWithTheDataAndWithTheInstance() {
            assertKept(promise, sent(paused().fault(Effect.LOSS, Fault.ALL, 20, 30), 0, 40, ALLOWED));
            assertFirst(promise, sent(paused().fault(Effect.LOSS, Fault.ALL, 20, 30), 0, 40, DEGRADED_ALLOWED), 3);
            assertKept(promise, sent(paused().fault(Effect.AHEAD, Fault.ALL, 20, 30), 0, 40, ALLOWED));
            assertKept(promise, sent(paused().fault(Effect.BEHIND, Fault.ALL, 20, 30), 0, 12_900, REJECTED));
            assertKept(promise, sent(paused().fault(Effect.DEATH, 0, 20, 30), 0, 40, DEGRADED_ALLOWED));
        }
    }
}
