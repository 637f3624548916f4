// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A changed, added or removed limit of a policy finds its state, and instances with other limits keep theirs. */
@Tag("redis")
class ChangedLimitsTest {
    private static final RedisFixture REDIS = RedisFixture.shared();
    private static final long NOW = 59_876_543_210_123L;
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Limit MINUTE = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1));
    private static final Limit HOUR = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofHours(1));
    private static final Limit DAY = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofDays(1));
    private static final Limit LOG = Limit.of(Algorithm.SLIDING_LOG, 50, Duration.ofHours(2));

    private static final Limit HALF_HOUR = Limit.of(Algorithm.SLIDING_WINDOW, 500, Duration.ofMinutes(30));

    private final TestBackend fixture = TestBackend.on(REDIS.address());
    private final RedisConnection redis = REDIS.connect();
    private final RedisClient client = new RedisClient(fixture::client, false, fixture.namespace(), DEADLINE);
    private long now = NOW;
    private final RedissonBackend backend = new RedissonBackend(client, fixture.namespace(), DEADLINE, () -> now);

    @BeforeEach
    void connect() {
        fixture.ready();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        client.close();
        fixture.close();
        redis.close();
    }

    private Receipt spend(long cost, Limit... limits) {
        Decision decision = backend.acquire(List.of(TestBackend.charge("k.a", cost, limits)));
        assertThat(decision.allowed()).isTrue();
        return ((Decision.Allowed) decision).receipt();
    }

    private List<Long> remaining(Limit... limits) {
        return backend.peek(List.of(TestBackend.charge("k.a", 1, limits))).stream()
                .map(Quota::remaining)
                .toList();
    }

    private List<String> stored() {
        return StoredSection.of(redis.bytes(fixture.key("k.a"))).stream()
                .map(StoredSection::name)
                .toList();
    }

    @Test
    void aPolicyHasOneKeyPerCallerWithASectionPerLimit() {
        spend(3, MINUTE, HOUR, DAY, LOG);
        assertThat(redis.keys(fixture.pattern())).containsExactly(fixture.key("k.a"));
        assertThat(stored()).containsExactly("s60000", "f3600000", "t86400000", "g7200000");
        assertThat(remaining(MINUTE, HOUR, DAY, LOG)).containsExactly(7L, 97L, 997L, 47L);
    }

    @Test
    void anAddedLimitStartsFreshAndTheOthersKeepTheirState() {
        spend(3, HOUR);
        spend(2, MINUTE, HOUR);
        assertThat(remaining(MINUTE, HOUR)).containsExactly(8L, 95L);
    }

    @Test
    void anotherOrderOfTheLimitsChangesNothing() {
        spend(3, MINUTE, HOUR, DAY, LOG);
        spend(2, LOG, DAY, HOUR, MINUTE);
        assertThat(remaining(HOUR, LOG, MINUTE, DAY)).containsExactly(95L, 45L, 5L, 995L);
    }

    @Test
    void morePermitsKeepTheState() {
        spend(3, MINUTE, HOUR);
        Limit more = Limit.of(Algorithm.SLIDING_WINDOW, 1L << 40, Duration.ofMinutes(1));
        assertThat(remaining(more, HOUR)).containsExactly((1L << 40) - 3, 97L);
    }

    @Test
    void anotherAlgorithmStartsFresh() {
        spend(3, MINUTE);
        spend(1, Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1)));
        assertThat(remaining(MINUTE)).containsExactly(7L);
    }

    static Stream<Limit> limits() {
        return Stream.of(MINUTE, HOUR, DAY, LOG, Limit.of(Algorithm.LEAKY_BUCKET, 100, Duration.ofHours(1), 20));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void instancesWithAndWithoutALimitBothCount(Limit limit) {
        Limit other = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofDays(2));
        long capacity = limit.capacity();
        for (int call = 1; call <= 5; call++) {
            spend(1, limit, HALF_HOUR);
            spend(1, other, HALF_HOUR);
            assertThat(remaining(limit, other, HALF_HOUR))
                    .containsExactly(capacity - call, 1_000L - call, 500L - 2 * call);
        }
        assertThat(stored()).hasSize(3);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void theSectionOfARemovedLimitIsRemovedWhenItHasEnded(Limit removed) {
        Limit kept = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofDays(30));
        spend(3, removed, kept);
        long end = Micros.resetAfter(
                backend.peek(List.of(TestBackend.charge("k.a", 1, removed))).get(0));
        now += end - 1_000_000;
        spend(1, kept);
        assertThat(stored()).hasSize(2);
        now += 2_000_000 + removed.windowMicros();
        spend(1, kept);
        assertThat(stored()).containsExactly("f2592000000");
        assertThat(remaining(kept)).containsExactly(5L);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void theKeyLivesUntilTheSectionOfARemovedLimitEnds(Limit removed) {
        Limit kept = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMillis(5));
        spend(3, removed);
        long lifeMillis = redis.number("PTTL", fixture.key("k.a"));
        spend(1, kept);
        // The time to live ends no earlier. The clock of the test stands still, that of Redis does not.
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isGreaterThanOrEqualTo(lifeMillis - 1_000);
        assertThat(remaining(removed)).containsExactly(removed.capacity() - 3);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aRefundKeepsTheSectionsOfOtherLimits(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 10, Duration.ofHours(5));
        spend(3, MINUTE, DAY, LOG);
        Receipt receipt = spend(4, limit);
        backend.refund(receipt).toCompletableFuture().join();
        assertThat(stored()).containsExactly("s60000", "t86400000", "g7200000");
        spend(4, limit);
        backend.refund(TestBackend.charge("k.a", 1, limit))
                .toCompletableFuture()
                .join();
        assertThat(remaining(MINUTE, DAY, LOG, limit)).containsExactly(7L, 997L, 47L, 7L);
    }

    @Test
    void aRefundOfOneLimitKeepsTheOthersOfThePolicy() {
        Receipt receipt = spend(4, MINUTE);
        spend(2, MINUTE, HOUR, LOG);
        backend.refund(receipt).toCompletableFuture().join();
        assertThat(remaining(MINUTE, HOUR, LOG)).containsExactly(8L, 98L, 48L);
    }

    @Test
    void aSectionOfALaterVersionIsKeptUntilItsEnd() {
        Limit longer = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofDays(1));
        spend(1, longer);
        byte[] state = redis.bytes(fixture.key("k.a"));
        ByteBuffer both = ByteBuffer.allocate(state.length + 18).put(state);
        both.put((byte) 'z').put((byte) 0).putInt(1_000);
        both.put((byte) 0).putShort((short) ((now + 5_000) >>> 32)).putInt((int) (now + 5_000));
        both.putShort((short) 3).put(new byte[] {1, 2, 3});
        redis.call("SET", fixture.key("k.a"), both.array());
        spend(1, longer);
        assertThat(redis.bytes(fixture.key("k.a"))).endsWith(Arrays.copyOfRange(both.array(), state.length, 37));
        now += 5_000;
        spend(1, longer);
        assertThat(redis.bytes(fixture.key("k.a"))).hasSize(state.length);
        assertThat(remaining(longer)).containsExactly(97L);
    }

    @Test
    void aResetRemovesTheSectionsOfAllLimits() {
        spend(3, MINUTE, HOUR);
        backend.reset(List.of(TestBackend.charge("k.a", 1, MINUTE).policy()), "k.a");
        assertThat(redis.keys(fixture.pattern())).isEmpty();
    }

    @Test
    void aDecisionOverManyKeysWithSeveralLimitsCountsEachOfThem() {
        List<Charge> charges = new ArrayList<>();
        for (int policy = 0; policy < 20; policy++) {
            charges.add(TestBackend.charge("k." + policy, 1, MINUTE, HOUR, LOG));
        }
        assertThat(backend.acquire(charges).allowed()).isTrue();
        List<Quota> quotas = backend.acquire(charges).quotas();
        for (int i = 0; i < quotas.size(); i += 3) {
            assertThat(quotas.subList(i, i + 3)).extracting(Quota::remaining).containsExactly(8L, 98L, 48L);
        }
        assertThat(quotas).hasSize(60);
    }
}
