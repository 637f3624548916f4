// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stored format, on which different versions of the library agree. It changes only together with its number. */
@Tag("redis")
class StoredFormatTest {
    private static final long NOW = 59_876_543_210_123L; // 0x36751816A28B
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
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

    @Test
    void aKeyContainsFormatNamespaceStoredKeyAndPolicy() {
        spend("p.alice", "login", Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1)));
        spend("i.203.0.113.7", "Report.make", Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofMillis(86_401_500)));
        spend("h.x-api-key.~8Zk", "a_b-c$D", Limit.of(Algorithm.TOKEN_BUCKET, 7, Duration.ofDays(366)));
        spend("all", "daily", Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofDays(1)));
        spend("k.job", "exact", Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofHours(2)));
        spend("anon", "steady", Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofHours(1)));
        String head = "weir:2:{" + fixture.namespace() + ":";
        assertThat(redis.keys(fixture.pattern()))
                .containsExactlyInAnyOrder(
                        head + "p.alice}:login",
                        head + "i.203.0.113.7}:Report.make",
                        head + "h.x-api-key.~8Zk}:a_b-c$D",
                        head + "all}:daily",
                        head + "k.job}:exact",
                        head + "anon}:steady");
    }

    @Test
    void theKeysOfAStoredKeyShareOneHashTag() {
        Limit minute = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(1));
        Limit hour = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofHours(1));
        Limit bucket = Limit.of(Algorithm.TOKEN_BUCKET, 100, Duration.ofHours(2));
        PolicyLimits mixed = new PolicyLimits("mixed", List.of(hour, bucket));
        backend.acquire(List.of(
                TestBackend.charge("p.bob", 1, minute, hour),
                new Charge(mixed, "p.bob", 1),
                TestBackend.charge("all", 1, hour)));
        Set<String> keys = redis.keys(fixture.pattern());
        String tag = "{" + fixture.namespace() + ":p.bob}";
        assertThat(keys).hasSize(3).allMatch(key -> key.indexOf('{') == key.lastIndexOf('{'));
        assertThat(keys.stream().filter(key -> key.contains(tag)).map(key -> key.substring(key.indexOf('}'))))
                .containsExactlyInAnyOrder("}:api", "}:mixed");
        assertThat(StoredSection.of(redis.bytes(fixture.key("p.bob"))))
                .extracting(StoredSection::name)
                .containsExactly("s60000", "s3600000");
    }

    @Test
    void aSectionBeginsWithTheLetterOfItsAlgorithmAndItsWindow() {
        spend("k.a", 1, Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofDays(366)));
        // The letter f, and 31,622,400,000 ms.
        assertThat(HexFormat.of().formatHex(redis.bytes(fixture.key("k.a")), 0, 6))
                .isEqualTo("66" + "075cd78800");
    }

    @Test
    void aSlidingLogHasTheTotalBeforeItAndAnInstantAndATotalPerEntry() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 1_000, Duration.ofHours(1));
        spend("k.a", 300, limit);
        spend("k.a", 2, limit);
        now += 7;
        spend("k.a", 3, limit);
        assertThat(hex("k.a", "g3600000"))
                .isEqualTo("0002" + "00000000" + "0036751816a28b" + "0000012e" + "0036751816a292" + "00000131");
        now += limit.windowMicros() - 7;
        spend("k.a", 1, limit);
        // The first instant has left the window, so its 302 permits are the total before the log.
        assertThat(hex("k.a", "g3600000"))
                .isEqualTo("0002" + "0000012e" + "0036751816a292" + "00000131" + "003675eeaa468b" + "00000132");
    }

    @Test
    void aFixedWindowHasAStartAndACount() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS, Duration.ofSeconds(30));
        spend("k.a", 300, limit);
        assertThat(hex("k.a", "f30000")).isEqualTo("0036751816a28b" + "00000000012c");
        now += 7;
        spend("k.a", Limit.MAX_PERMITS - 300, limit);
        // The window starts at the first call, which spends 2^48 - 2 permits.
        assertThat(hex("k.a", "f30000")).isEqualTo("0036751816a28b" + "fffffffffffe");
        now += limit.windowMicros();
        spend("k.a", 1, limit);
        // The next window starts 30,000,007 µs later: 0x36751816A28B + 0x1C9C387.
        assertThat(hex("k.a", "f30000")).isEqualTo("00367519e06612" + "000000000001");
    }

    @Test
    void aPartlyRefundedFixedWindowKeepsItsFormat() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(10));
        spend("k.a", 3, limit);
        backend.refund(TestBackend.charge("k.a", 1, limit))
                .toCompletableFuture()
                .join();
        assertThat(hex("k.a", "f600000")).isEqualTo("0036751816a28b" + "000000000002");
    }

    @Test
    void aPartialRefundOfTheLongestSectionShortensTheTimeToLive() {
        Limit bucket = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofMinutes(100));
        Limit window = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofMinutes(10));
        Charge charge = TestBackend.charge("k.a", 500, bucket, window);
        backend.acquire(List.of(charge));
        assertThat(millisToLive("k.a")).as("half of the bucket returns").isBetween(2_940_000L, 3_000_000L);
        backend.refund(TestBackend.charge("k.a", 300, bucket, window))
                .toCompletableFuture()
                .join();
        assertThat(millisToLive("k.a")).as("a fifth of the bucket returns").isBetween(1_140_000L, 1_200_000L);
        backend.refund(TestBackend.charge("k.a", 180, bucket, window))
                .toCompletableFuture()
                .join();
        assertThat(millisToLive("k.a")).as("the window ends").isBetween(540_000L, 600_000L);
    }

    private long millisToLive(String storedKey) {
        return (long) redis.call("PTTL", fixture.key(storedKey));
    }

    @Test
    void aLeakyBucketHasTheFormatOfATokenBucket() {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, 1_000, Duration.ofMinutes(10), 500);
        spend("k.a", 300, limit);
        assertThat(hex("k.a", "l600000")).isEqualTo("0036751816a28b" + "000029e8d60800" + "00" + "00367522d1378b");
        backend.refund(TestBackend.charge("k.a", 299, limit))
                .toCompletableFuture()
                .join();
        // One permit has 600,000,000 parts.
        assertThat(hex("k.a", "l600000")).isEqualTo("0036751816a28b" + "00000023c34600" + "00" + "003675181fca4b");
    }

    @Test
    void aSlidingWindowHasAStartAndTwoCounts() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofMinutes(10));
        spend("k.a", 300, limit);
        assertThat(hex("k.a", "s600000")).isEqualTo("0036751816a28b" + "00000000012c" + "000000000000");
        now += limit.windowMicros() + 1;
        spend("k.a", 1, limit);
        // One window later: 0x36751816A28B + 600,000,000.
        assertThat(hex("k.a", "s600000")).isEqualTo("0036753bd9e88b" + "000000000001" + "00000000012c");
    }

    @Test
    void aTokenBucketHasAnAnchorADebtAndTheExponentOfItsUnit() {
        Limit fine = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofMinutes(10));
        spend("k.a", 300, fine);
        // 300 permits have 600,000,000 parts each.
        assertThat(hex("k.a", "t600000")).isEqualTo("0036751816a28b" + "000029e8d60800" + "00" + "00367522d1378b");
        now += 7;
        spend("k.a", 1, fine);
        // 7 µs later 7,000 parts have returned, and one more permit is spent.
        assertThat(hex("k.a", "t600000")).isEqualTo("0036751816a292" + "00002a0c9932a8" + "00" + "00367522da5f4b");
    }

    @Test
    void aTokenBucketOfManyPermitsHasACoarserUnit() {
        Limit coarse = Limit.of(Algorithm.TOKEN_BUCKET, 1_000_000_000, Duration.ofDays(30));
        assertThat(coarse.unitExponent()).isEqualTo(6);
        spend("k.a", 2, coarse);
        // 2 permits have 2,592,000 parts each.
        assertThat(hex("k.a", "t2592000000")).isEqualTo("0036751816a28b" + "000000004f1a00" + "06" + "0036751825e4cb");
    }

    @Test
    void theKeyContainsTheStoredKeyUnchanged() {
        String storedKey = "k.!\"#$%&'()*+,-./09;<=>?@AZ[]^_`az|~";
        spend(storedKey, 1, Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofMinutes(1)));
        try (RedisConnection plain = RedisFixture.shared().connect()) {
            assertThat(plain.number("EXISTS", "weir:2:{" + fixture.namespace() + ":" + storedKey + "}:api"))
                    .isEqualTo(1);
        }
    }

    private void spend(String storedKey, String policy, Limit limit) {
        Charge charge = new Charge(new PolicyLimits(policy, List.of(limit)), storedKey, 1);
        assertThat(backend.acquire(List.of(charge)).allowed()).isTrue();
    }

    private void spend(String storedKey, long cost, Limit limit) {
        Decision decision = backend.acquire(List.of(TestBackend.charge(storedKey, cost, limit)));
        assertThat(decision.allowed()).isTrue();
    }

    /** Returns the state of the only limit of a key. */
    private String hex(String storedKey, String name) {
        List<StoredSection> sections = StoredSection.of(redis.bytes(fixture.key(storedKey)));
        assertThat(sections).extracting(StoredSection::name).containsExactly(name);
        return HexFormat.of().formatHex(sections.get(0).state());
    }
}
