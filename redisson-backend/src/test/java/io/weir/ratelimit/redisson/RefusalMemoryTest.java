// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TokenBucketState;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RefusalMemoryTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    /** When calls are sent, on the monotonic clock, which may be negative. */
    private static final long SENT = -77 * SECOND;

    /** Redis decides at this instant of its own clock. */
    private static final long REDIS_NOW = 1_763_638_242_123_457L;

    private static final Limit TEN_A_MINUTE = window(10, Duration.ofMinutes(1));
    private static final PolicyLimits API = new PolicyLimits("api", List.of(TEN_A_MINUTE));

    /** A permit each millisecond, and ten that can be saved. */
    private static final PolicyLimits BUCKET =
            new PolicyLimits("bucket", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1), 10)));

    private final RefusalMemory memory = new RefusalMemory();

    private static Limit window(long permits, Duration length) {
        return Limit.of(Algorithm.FIXED_WINDOW, permits, length);
    }

    private static List<Charge> charge(PolicyLimits policy, long cost) {
        return List.of(new Charge(policy, "p.alice", cost));
    }

    private static List<String> keys(List<Charge> charges) {
        return charges.stream()
                .flatMap(charge -> charge.policy().limits().stream()
                        .map(limit -> charge.policy().policy() + charge.identity() + limit.windowText()))
                .toList();
    }

    /** A window that started ten seconds ago. */
    private static FixedWindowState spent(long permits) {
        return new FixedWindowState(REDIS_NOW - 10_000_000, permits);
    }

    /** A bucket in which so many permits are missing. */
    private static TokenBucketState missing(long permits) {
        return new TokenBucketState(REDIS_NOW, permits * 1_000_000, 0);
    }

    /** The reply took no time. */
    private void remember(List<Charge> charges, LimitState... states) {
        remember(charges, SENT, SENT, states);
    }

    private void remember(List<Charge> charges, long sent, long received, LimitState... states) {
        List<String> keys = keys(charges);
        memory.remember(charges, keys, List.of(states), REDIS_NOW, sent, received, memory.stamp(keys));
    }

    private Optional<Decision.Rejected> recall(List<Charge> charges, long nowNanos) {
        return memory.recall(charges, keys(charges), nowNanos);
    }

    @Test
    void aRefusalIsToldAgainWithTheWaitThatIsLeft() {
        remember(charge(API, 3), spent(8));
        assertThat(recall(charge(API, 3), SENT + 250 * MILLI)).hasValueSatisfying(refusal -> {
            assertThat(refusal.quotas())
                    .containsExactly(new Quota(
                            "api", "api", 10, 10, Duration.ofMinutes(1), 2, true, 49_750_000, 49_750_000, 49_750_000));
        });
    }

    @Test
    void aKeyThatNobodyToldOfIsNotKnown() {
        assertThat(recall(charge(API, 3), SENT)).isEmpty();
        remember(charge(API, 3), spent(8));
        assertThat(memory.recall(charge(API, 3), List.of("api" + "p.bob" + "1m"), SENT))
                .isEmpty();
    }

    @Test
    void aSmallerCostThatMayHaveRoomIsNotRefusedAndADearerOneIs() {
        remember(charge(API, 4), spent(7));
        assertThat(recall(charge(API, 3), SENT)).isEmpty();
        assertThat(recall(charge(API, 4), SENT)).isPresent();
        assertThat(recall(charge(API, 5), SENT)).isPresent();
        assertThat(recall(charge(API, 11), SENT))
                .hasValueSatisfying(refusal -> assertThat(refusal.retryAfter()).isEmpty());
    }

    @Test
    void aCostThatNeverFitsTellsOfOthersAsWell() {
        remember(charge(API, 11), spent(10));
        assertThat(recall(charge(API, 11), SENT))
                .hasValueSatisfying(refusal -> assertThat(refusal.retryAfter()).isEmpty());
        assertThat(recall(charge(API, 1), SENT))
                .hasValueSatisfying(refusal -> assertThat(refusal.retryAfter()).hasValue(Duration.ofSeconds(50)));
    }

    /** Its state is a digest. */
    @Test
    void aLogAnswersForTheSameCostOnly() {
        PolicyLimits log = new PolicyLimits("log", List.of(Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofMinutes(1))));
        remember(charge(log, 4), spent(7));
        assertThat(recall(charge(log, 4), SENT)).isPresent();
        assertThat(recall(charge(log, 5), SENT)).isEmpty();
        assertThat(recall(charge(log, 3), SENT)).isEmpty();
    }

    @Test
    void nothingIsRememberedForMoreThanASecondFromSending() {
        remember(charge(API, 1), SENT, SENT + 90 * MILLI, spent(10));
        assertThat(recall(charge(API, 1), SENT + SECOND)).isPresent();
        assertThat(recall(charge(API, 1), SENT + SECOND + 1)).isEmpty();
    }

    @Test
    void nobodyIsRefusedOnceAPermitMayBeThere() {
        remember(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(recall(charge(BUCKET, 5), SENT + 5 * MILLI - 1_000)).isPresent();
        assertThat(recall(charge(BUCKET, 5), SENT + 5 * MILLI - 999))
                .as("Redis may have decided when the call was sent")
                .isEmpty();
    }

    @Test
    void theWaitIsEnoughIfRedisDecidedJustBeforeTheReply() {
        remember(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(recall(charge(BUCKET, 5), SENT + 4 * MILLI))
                .hasValueSatisfying(refusal -> assertThat(refusal.retryAfter()).hasValue(Duration.ofMillis(4)));
    }

    @Test
    void whoHasReadTheClockBeforeTheReplyIsToldTheWaitOfTheReply() {
        remember(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(recall(charge(BUCKET, 5), SENT - MILLI))
                .hasValueSatisfying(refusal -> assertThat(refusal.retryAfter()).hasValue(Duration.ofMillis(5)));
        remember(charge(BUCKET, 5), SENT, SENT + 5 * MILLI, missing(10));
        assertThat(recall(charge(BUCKET, 5), SENT - MILLI)).isEmpty();
    }

    @Test
    void aShortWaitIsNotWorthAPlace() {
        assertThat(RefusalMemory.isWorthwhile(refusal(999))).isFalse();
        assertThat(RefusalMemory.isWorthwhile(refusal(1_000))).isTrue();
        assertThat(RefusalMemory.isWorthwhile(refusal(Quota.NEVER))).isTrue();
    }

    private static Decision.Rejected refusal(long waitMicros) {
        return new Decision.Rejected(
                List.of(new Quota("api", "api", 10, 10, Duration.ofMinutes(1), 0, true, waitMicros, 0, 0)));
    }

    @Test
    void aChangedLimitIsAskedAbout() {
        remember(charge(API, 1), spent(10));
        for (Limit changed : List.of(
                window(11, Duration.ofMinutes(1)), Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)))) {
            assertThat(recall(charge(new PolicyLimits("api", List.of(changed)), 1), SENT))
                    .isEmpty();
        }
        assertThat(recall(charge(new PolicyLimits("api", List.of(window(10, Duration.ofMinutes(1)))), 1), SENT))
                .as("an equal one")
                .isPresent();
    }

    @Test
    void allLimitsOfACallAreToldAndThoseThatRefuseAreNamed() {
        PolicyLimits two = new PolicyLimits("two", List.of(window(100, Duration.ofHours(1)), TEN_A_MINUTE));
        List<Charge> charges =
                List.of(new Charge(BUCKET, "all", 1), new Charge(API, "p.alice", 2), new Charge(two, "i.1", 3));
        remember(charges, missing(3), spent(9), spent(40), spent(10));
        assertThat(recall(charges, SENT + MILLI)).hasValueSatisfying(refusal -> {
            assertThat(refusal.quotas())
                    .extracting(quota -> quota.name() + " " + quota.remaining() + " " + quota.refused())
                    .containsExactly("bucket 8 false", "api 1 true", "two-1h 60 false", "two-1m 0 true");
            assertThat(refusal.violatedPolicies()).containsExactly("api", "two");
        });
        assertThat(recall(List.of(charges.get(1), charges.get(0)), SENT))
                .as("fewer, in another order")
                .isPresent();
    }

    @Test
    void aCallWithALimitThatIsNotKnownIsAskedAbout() {
        remember(charge(API, 1), spent(10));
        List<Charge> both = List.of(charge(API, 1).get(0), charge(BUCKET, 1).get(0));
        assertThat(recall(both, SENT)).isEmpty();
        remember(charge(BUCKET, 1), missing(2));
        assertThat(recall(both, SENT)).isPresent();
        assertThat(recall(charge(BUCKET, 1), SENT)).as("has room").isEmpty();
    }

    @Test
    void whatACallThatWasLetInHasChangedIsForgotten() {
        remember(charge(API, 3), spent(8));
        memory.admitted(keys(charge(API, 2)));
        assertThat(recall(charge(API, 3), SENT)).isEmpty();
    }

    @Test
    void permitsThatComeBackMakeItForgetWhatIsKnownAndWhatIsUnderWay() {
        List<Charge> charges = charge(API, 1);
        List<String> keys = keys(charges);
        remember(charges, spent(10));
        long before = memory.stamp(keys);
        memory.forget(keys);
        assertThat(recall(charges, SENT)).isEmpty();
        memory.remember(charges, keys, List.of(spent(10)), REDIS_NOW, SENT, SENT, before);
        assertThat(recall(charges, SENT))
                .as("decided before the permits came back")
                .isEmpty();
        remember(charges, spent(10));
        assertThat(recall(charges, SENT)).as("decided after it").isPresent();
    }

    @Test
    void permitsThatComeBackWhileAReplyIsTakenInAreNotOverlooked() {
        List<Charge> charges = charge(API, 1);
        List<String> keys = keys(charges);
        List<LimitState> states = new AbstractList<>() {
            @Override
            public LimitState get(int index) {
                memory.forget(keys);
                return spent(10);
            }

            @Override
            public int size() {
                return 1;
            }
        };
        memory.remember(charges, keys, states, REDIS_NOW, SENT, SENT, memory.stamp(keys));
        assertThat(recall(charges, SENT)).isEmpty();
    }

    @Test
    void ofACallNothingIsBelievedIfPermitsCameBackToOneOfItsKeys() {
        List<Charge> both = List.of(charge(API, 1).get(0), charge(BUCKET, 1).get(0));
        long before = memory.stamp(keys(both));
        memory.forget(keys(charge(BUCKET, 1)));
        memory.remember(both, keys(both), List.of(spent(10), missing(10)), REDIS_NOW, SENT, SENT, before);
        assertThat(recall(charge(API, 1), SENT)).isEmpty();
        assertThat(recall(charge(BUCKET, 1), SENT)).isEmpty();
    }

    @Test
    void aNewerRefusalTakesThePlaceOfAnotherKey() {
        RefusalMemory one = new RefusalMemory(1);
        List<Charge> charges = charge(API, 1);
        for (String key : List.of("first", "second")) {
            List<String> keys = List.of(key);
            one.remember(charges, keys, List.of(spent(10)), REDIS_NOW, SENT, SENT, one.stamp(keys));
        }
        assertThat(one.recall(charges, List.of("first"), SENT)).isEmpty();
        assertThat(one.recall(charges, List.of("second"), SENT)).isPresent();
        one.admitted(List.of("first"));
        assertThat(one.recall(charges, List.of("second"), SENT))
                .as("a call of the first changes nothing")
                .isPresent();
    }

    @Test
    void anOlderReplyThatIsHandledLaterChangesNothing() {
        remember(charge(API, 1), SENT + 1, SENT + 1, spent(10));
        remember(charge(API, 9), SENT, SENT + 2, spent(2));
        assertThat(recall(charge(API, 1), SENT)).isPresent();
        remember(charge(API, 9), SENT + 2, SENT + 2, spent(2));
        assertThat(recall(charge(API, 1), SENT)).isEmpty();
    }

    @Test
    void keysSpreadOverThePlaces() {
        List<Charge> charges = charge(API, 1);
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add("weir:1:{app:i.10.0." + i / 250 + "." + i % 250 + "}:api:f60000");
        }
        for (String key : all) {
            List<String> keys = List.of(key);
            memory.remember(charges, keys, List.of(spent(10)), REDIS_NOW, SENT, SENT, memory.stamp(keys));
        }
        assertThat(all.stream()
                        .filter(key ->
                                memory.recall(charges, List.of(key), SENT).isPresent()))
                .as("of a thousand keys in 8,192 places about 60 fall on the place of another")
                .hasSizeGreaterThan(900);
    }
}
