// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RejectionCacheTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    /** The instant at which calls are sent, by the monotonic clock, which may be negative. */
    private static final long SENT = -77 * SECOND;

    /** The instant of Redis's clock at which Redis decides. */
    private static final long REDIS_NOW = 1_763_638_242_123_457L;

    private static final Limit TEN_A_MINUTE = window(10, Duration.ofMinutes(1));
    private static final PolicyLimits API = new PolicyLimits("api", List.of(TEN_A_MINUTE));

    /** A permit per millisecond with a burst of ten. */
    private static final PolicyLimits BUCKET =
            new PolicyLimits("bucket", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1), 10)));

    private static final RedisKeys KEYS = RedisKeys.of("test");

    /** The instant of a reply that took no time. */
    private static final RedisTime AT_ONCE = new RedisTime(REDIS_NOW, SENT, SENT);

    private final RejectionCache cache = new RejectionCache(KEYS);

    private static Limit window(long permits, Duration length) {
        return Limit.of(Algorithm.FIXED_WINDOW, permits, length);
    }

    private static List<Charge> charge(PolicyLimits policy, long cost) {
        return List.of(new Charge(policy, "p.alice", cost));
    }

    private static List<ChargeStates> states(List<Charge> charges, LimitState... states) {
        return ChargeStates.split(charges, List.of(states));
    }

    private static List<String> keys(List<Charge> charges) {
        return charges.stream()
                .map(charge -> charge.policy().policy() + charge.storedKey())
                .toList();
    }

    /** Returns a window that started ten seconds ago. */
    private static FixedWindowState spent(long permits) {
        return new FixedWindowState(REDIS_NOW - 10_000_000, permits);
    }

    /** Returns a bucket in which permits are missing. */
    private static TokenBucketState missing(long permits) {
        return new TokenBucketState(REDIS_NOW, permits * 1_000_000, 0);
    }

    /** Caches states of a reply that took no time. */
    private void put(List<Charge> charges, LimitState... states) {
        put(charges, SENT, SENT, states);
    }

    private void put(List<Charge> charges, long sent, long received, LimitState... states) {
        List<String> keys = keys(charges);
        RedisTime time = new RedisTime(REDIS_NOW, sent, received);
        cache.put(ChargeStates.split(charges, List.of(states)), keys, time, cache.version(keys));
    }

    private Optional<Decision.Rejected> find(List<Charge> charges, long nowNanos) {
        return cache.find(charges, keys(charges), nowNanos);
    }

    @Test
    void returnsARejectionWithTheRemainingRetryAfter() {
        put(charge(API, 3), spent(8));
        assertThat(find(charge(API, 3), SENT + 250 * MILLI)).hasValueSatisfying(rejection -> {
            assertThat(rejection.quotas())
                    .containsExactly(TestQuota.of(
                            "api", "api", 10, 10, Duration.ofMinutes(1), 2, true, 49_750_000, 49_750_000, 49_750_000));
        });
    }

    @Test
    void findsNoRejectionOfAnotherKey() {
        assertThat(find(charge(API, 3), SENT)).isEmpty();
        put(charge(API, 3), spent(8));
        assertThat(cache.find(charge(API, 3), List.of("apip.bob"), SENT)).isEmpty();
    }

    @Test
    void rejectsHigherCostsButNoCostThatMayHaveRoom() {
        put(charge(API, 4), spent(7));
        assertThat(find(charge(API, 3), SENT)).isEmpty();
        assertThat(find(charge(API, 4), SENT)).isPresent();
        assertThat(find(charge(API, 5), SENT)).isPresent();
        assertThat(find(charge(API, 11), SENT))
                .hasValueSatisfying(
                        rejection -> assertThat(rejection.retryAfter()).isEmpty());
    }

    @Test
    void decidesOnLowerCostsFromTheStateOfACostAboveTheCapacity() {
        put(charge(API, 11), spent(10));
        assertThat(find(charge(API, 11), SENT))
                .hasValueSatisfying(
                        rejection -> assertThat(rejection.retryAfter()).isEmpty());
        assertThat(find(charge(API, 1), SENT))
                .hasValueSatisfying(
                        rejection -> assertThat(rejection.retryAfter()).hasValue(Duration.ofSeconds(50)));
    }

    /** The state of a log is a summary for one cost. */
    @Test
    void decidesFromALogOnTheRejectedCostOnly() {
        PolicyLimits log = new PolicyLimits("log", List.of(Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofMinutes(1))));
        put(charge(log, 4), spent(7));
        assertThat(find(charge(log, 4), SENT)).isPresent();
        assertThat(find(charge(log, 5), SENT)).isEmpty();
        assertThat(find(charge(log, 3), SENT)).isEmpty();
    }

    @Test
    void keepsARejectionForOneSecondAfterTheRequestWasSent() {
        put(charge(API, 1), SENT, SENT + 90 * MILLI, spent(10));
        assertThat(find(charge(API, 1), SENT + SECOND)).isPresent();
        assertThat(find(charge(API, 1), SENT + SECOND + 1)).isEmpty();
    }

    @Test
    void rejectsNoCallOnceAPermitMayBeAvailable() {
        put(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(find(charge(BUCKET, 5), SENT + 5 * MILLI - 1_000)).isPresent();
        assertThat(find(charge(BUCKET, 5), SENT + 5 * MILLI - 999))
                .as("Redis may have decided when the call was sent")
                .isEmpty();
    }

    @Test
    void reportsARetryAfterThatIsLongEnoughIfRedisDecidedJustBeforeTheReply() {
        put(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(find(charge(BUCKET, 5), SENT + 4 * MILLI))
                .hasValueSatisfying(
                        rejection -> assertThat(rejection.retryAfter()).hasValue(Duration.ofMillis(4)));
    }

    @Test
    void usesTheRetryAfterOfTheReplyIfTheClockWasReadBefore() {
        put(charge(BUCKET, 5), SENT, SENT + 3 * MILLI, missing(10));
        assertThat(find(charge(BUCKET, 5), SENT - MILLI))
                .hasValueSatisfying(
                        rejection -> assertThat(rejection.retryAfter()).hasValue(Duration.ofMillis(5)));
        put(charge(BUCKET, 5), SENT, SENT + 5 * MILLI, missing(10));
        assertThat(find(charge(BUCKET, 5), SENT - MILLI)).isEmpty();
    }

    @Test
    void doesNotCacheAShortRetryAfter() {
        assertThat(RejectionCache.isWorthCaching(rejection(999))).isFalse();
        assertThat(RejectionCache.isWorthCaching(rejection(1_000))).isTrue();
        assertThat(RejectionCache.isWorthCaching(rejection(Micros.NEVER))).isTrue();
    }

    private static Decision.Rejected rejection(long waitMicros) {
        return new Decision.Rejected(
                Results.of(TestQuota.of("api", "api", 10, 10, Duration.ofMinutes(1), 0, true, waitMicros, 0, 0)));
    }

    @Test
    void findsNoRejectionOfAChangedLimit() {
        put(charge(API, 1), spent(10));
        for (Limit changed : List.of(
                window(11, Duration.ofMinutes(1)), Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)))) {
            assertThat(find(charge(new PolicyLimits("api", List.of(changed)), 1), SENT))
                    .isEmpty();
        }
        assertThat(find(charge(new PolicyLimits("api", List.of(window(10, Duration.ofMinutes(1)))), 1), SENT))
                .as("an equal one")
                .isPresent();
    }

    @Test
    void returnsTheQuotasOfAllLimitsAndMarksThoseThatReject() {
        PolicyLimits two = new PolicyLimits("two", List.of(window(100, Duration.ofHours(1)), TEN_A_MINUTE));
        List<Charge> charges =
                List.of(new Charge(BUCKET, "all", 1), new Charge(API, "p.alice", 2), new Charge(two, "i.1", 3));
        put(charges, missing(3), spent(9), spent(40), spent(10));
        assertThat(find(charges, SENT + MILLI)).hasValueSatisfying(rejection -> {
            assertThat(rejection.quotas())
                    .extracting(quota -> quota.name() + " " + quota.remaining() + " " + quota.rejected())
                    .containsExactly("bucket 8 false", "api 1 true", "two-1h 60 false", "two-1m 0 true");
            assertThat(rejection.violatedPolicies()).containsExactly("api", "two");
        });
        assertThat(find(List.of(charges.get(1), charges.get(0)), SENT))
                .as("fewer, in another order")
                .isPresent();
    }

    @Test
    void findsNoRejectionIfTheStateOfALimitIsUnknown() {
        put(charge(API, 1), spent(10));
        List<Charge> both = List.of(charge(API, 1).get(0), charge(BUCKET, 1).get(0));
        assertThat(find(both, SENT)).isEmpty();
        put(charge(BUCKET, 1), missing(2));
        assertThat(find(both, SENT)).isPresent();
        assertThat(find(charge(BUCKET, 1), SENT)).as("has room").isEmpty();
    }

    @Test
    void removesTheStatesThatAnAllowedCallChanged() {
        put(charge(API, 3), spent(8));
        cache.remove(keys(charge(API, 2)), sentAt(SENT + 1));
        assertThat(find(charge(API, 3), SENT)).isEmpty();
    }

    /** The thread of an allowed call can come after that of a call which the same script call, or a later one, rejected. */
    @Test
    void keepsTheStatesThatAreNotOlderThanAnAllowedCall() {
        put(charge(API, 1), spent(10));
        cache.remove(keys(charge(API, 1)), sentAt(SENT));
        assertThat(find(charge(API, 1), SENT)).isPresent();
        cache.remove(keys(charge(API, 1)), sentAt(SENT - 1));
        assertThat(find(charge(API, 1), SENT)).isPresent();
    }

    private static RedisTime sentAt(long nanos) {
        return new RedisTime(REDIS_NOW, nanos, nanos);
    }

    @Test
    void invalidateRemovesStatesAndIgnoresRepliesInFlight() {
        List<Charge> charges = charge(API, 1);
        List<String> keys = keys(charges);
        put(charges, spent(10));
        long before = cache.version(keys);
        cache.invalidate(keys);
        assertThat(find(charges, SENT)).isEmpty();
        cache.put(states(charges, spent(10)), keys, AT_ONCE, before);
        assertThat(find(charges, SENT))
                .as("decided before the permits returned")
                .isEmpty();
        put(charges, spent(10));
        assertThat(find(charges, SENT)).as("decided after it").isPresent();
    }

    @Test
    void ignoresStatesOfAKeyThatIsInvalidatedWhileTheyAreCached() {
        List<Charge> both = List.of(charge(BUCKET, 1).get(0), charge(API, 1).get(0));
        List<String> keys = keys(both);
        List<String> invalidating = new AbstractList<>() {
            @Override
            public String get(int index) {
                if (index == 1) {
                    cache.invalidate(keys.subList(0, 1));
                }
                return keys.get(index);
            }

            @Override
            public int size() {
                return 2;
            }
        };
        cache.put(states(both, missing(10), spent(10)), invalidating, AT_ONCE, cache.version(keys));
        assertThat(find(charge(BUCKET, 1), SENT)).isEmpty();
        assertThat(find(charge(API, 1), SENT)).isPresent();
    }

    @Test
    void ignoresAllStatesOfACallIfOneOfItsKeysWasInvalidated() {
        List<Charge> both = List.of(charge(API, 1).get(0), charge(BUCKET, 1).get(0));
        long before = cache.version(keys(both));
        cache.invalidate(keys(charge(BUCKET, 1)));
        cache.put(states(both, spent(10), missing(10)), keys(both), AT_ONCE, before);
        assertThat(find(charge(API, 1), SENT)).isEmpty();
        assertThat(find(charge(BUCKET, 1), SENT)).isEmpty();
    }

    @Test
    void aNewerRejectionReplacesOneOfAnotherKeyWithTheSameIndex() {
        RejectionCache one = new RejectionCache(KEYS, 1);
        List<Charge> charges = charge(API, 1);
        for (String key : List.of("first", "second")) {
            List<String> keys = List.of(key);
            one.put(states(charges, spent(10)), keys, AT_ONCE, one.version(keys));
        }
        assertThat(one.find(charges, List.of("first"), SENT)).isEmpty();
        assertThat(one.find(charges, List.of("second"), SENT)).isPresent();
        one.remove(List.of("first"), sentAt(SENT + 1));
        assertThat(one.find(charges, List.of("second"), SENT))
                .as("a call of the first changes nothing")
                .isPresent();
    }

    @Test
    void ignoresAnOlderReplyThatIsProcessedLater() {
        put(charge(API, 1), SENT + 1, SENT + 1, spent(10));
        put(charge(API, 9), SENT, SENT + 2, spent(2));
        assertThat(find(charge(API, 1), SENT)).isPresent();
        put(charge(API, 9), SENT + 2, SENT + 2, spent(2));
        assertThat(find(charge(API, 1), SENT)).isEmpty();
    }

    @Test
    void spreadsKeysOverTheEntries() {
        List<Charge> charges = charge(API, 1);
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            all.add("weir:2:{app:i.10.0." + i / 250 + "." + i % 250 + "}:api");
        }
        for (String key : all) {
            List<String> keys = List.of(key);
            cache.put(states(charges, spent(10)), keys, AT_ONCE, cache.version(keys));
        }
        assertThat(all.stream()
                        .filter(key -> cache.find(charges, List.of(key), SENT).isPresent()))
                .as("about 60 of 1,000 keys share one of 8,192 entries with another key")
                .hasSizeGreaterThan(900);
    }
}
