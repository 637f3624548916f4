// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settlements on a real Redis: the stored debt, its expiry, the number of calls, batches and leases. */
@Tag("redis")
class SettlementTest {
    private static final long NOW = 59_876_543_210_123L; // 0x36751816A28B
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Limit WINDOW = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofMinutes(10));

    private final ManualTimer timer = new ManualTimer();
    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address(), DEADLINE, timer);
    private final RedisConnection redis = RedisFixture.shared().connect();
    private final RedisClient client = new RedisClient(fixture::client, false, fixture.namespace(), DEADLINE);
    private long now = NOW;
    private final RedissonBackend timed = new RedissonBackend(client, fixture.namespace(), DEADLINE, () -> now);

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

    private static Receipt spend(RedissonBackend backend, long cost, Limit... limits) {
        Decision decision = backend.acquire(List.of(TestBackend.charge("k.a", cost, limits)));
        return ((Decision.Allowed) decision).receipt();
    }

    private static void settle(RedissonBackend backend, Receipt receipt, long actualCost) {
        assertThat(backend.settle(receipt, charge -> true, actualCost)
                        .toCompletableFuture()
                        .join())
                .hasSize(1);
    }

    private String stored() {
        return HexFormat.of().formatHex(redis.bytes(fixture.key("k.a")));
    }

    @Test
    void aDebtIsASectionThatEarlierVersionsKeep() {
        Receipt receipt = spend(timed, 10, WINDOW);
        settle(timed, receipt, 15);
        // The letter d, 600,000 ms, the end two windows after the start, 21 bytes, the letter s, the start and two
        // counts.
        assertThat(stored())
                .isEqualTo("64" + "00000927c0" + hexOfEnd() + "0015" + "73" + "0036751816a28b" + "0000000000000f"
                        + "000000000000");
        now += WINDOW.windowMicros() * 3 / 2;
        spend(timed, 1, WINDOW);
        assertThat(stored()).as("15 of the previous window still count").startsWith("64");
        now += WINDOW.windowMicros();
        spend(timed, 1, WINDOW);
        assertThat(stored()).as("the debt has ended").startsWith("73").hasSize(50);
    }

    @Test
    void aDebtOfACalendarLimitIsASectionThatEndsWithThePeriod() {
        Limit month = Limit.of(10, new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneId.of("UTC"), 1));
        Receipt receipt = spend(timed, 10, month);
        settle(timed, receipt, 15);
        // The letter d, 31 days, 2026-12-01T00:00:00Z, 21 bytes, the letter c, the first and the latest charge and a
        // count.
        assertThat(stored())
                .isEqualTo("64" + "009fa52400" + "0036ed7b132000" + "0015" + "63" + "0036751816a28b" + "0036751816a28b"
                        + "00000000000f");
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isBetween(517_000_000L, 517_056_790L);
        timed.refund(TestBackend.charge("k.a", 1, month)).toCompletableFuture().join();
        assertThat(stored()).as("14 of 10 are spent").startsWith("64").endsWith("0e");
        assertThat(timed.acquire(List.of(TestBackend.charge("k.a", 1, month))).allowed())
                .isFalse();
        now = 60_393_600_000_000L; // 2026-12-01T00:00:00Z
        spend(timed, 10, month);
        assertThat(stored()).startsWith("63").hasSize(70);
    }

    private static String hexOfEnd() {
        return HexFormat.of().toHexDigits(NOW + 2 * WINDOW.windowMicros()).substring(2);
    }

    @Test
    void aDebtPrevailsOverASectionOfAnEarlierVersion() {
        Receipt receipt = spend(timed, 10, WINDOW);
        byte[] plain = redis.bytes(fixture.key("k.a"));
        settle(timed, receipt, 15);
        byte[] debt = redis.bytes(fixture.key("k.a"));
        for (byte[][] order : new byte[][][] {{plain, debt}, {debt, plain}}) {
            ByteArrayOutputStream both = new ByteArrayOutputStream();
            both.writeBytes(order[0]);
            both.writeBytes(order[1]);
            redis.call("SET", fixture.key("k.a"), both.toByteArray());
            Charge one = TestBackend.charge("k.a", 1, WINDOW);
            assertThat(Micros.retryAfter(timed.peek(List.of(one)).get(0))).isEqualTo(840_000_000);
        }
    }

    @Test
    void aDebtExtendsTheTimeToLiveOfABucketOnly() {
        Limit bucket = Limit.of(Algorithm.TOKEN_BUCKET, 100, Duration.ofHours(1));
        settle(fixture.backend(), spend(fixture.backend(), 1, bucket), 50);
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isBetween(1_700_000L, 1_800_001L);
        redis.drop(fixture.pattern());
        Receipt receipt = spend(fixture.backend(), 1, WINDOW);
        long before = redis.number("PTTL", fixture.key("k.a"));
        settle(fixture.backend(), receipt, 50);
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isBetween(before - 60_000, before + 1);
    }

    @Test
    void theSectionsOfOtherLimitsStayAndDetermineTheTimeToLive() {
        Limit day = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofDays(1));
        Limit log = Limit.of(Algorithm.SLIDING_LOG, 1_000, Duration.ofDays(2));
        spend(fixture.backend(), 1, day, log);
        Receipt receipt = spend(fixture.backend(), 2, WINDOW, log);
        settle(fixture.backend(), receipt, 15);
        assertThat(redis.number("PTTL", fixture.key("k.a"))).isBetween(172_000_000L, 172_800_001L);
        assertThat(fixture.backend().peek(List.of(TestBackend.charge("k.a", 1, WINDOW, day, log))))
                .extracting(quota -> quota.remaining())
                .containsExactly(0L, 999L, 984L);
    }

    @Test
    void aSettlementIsOneScriptCallForAllLimits() {
        Limit day = Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofDays(1));
        for (long actual : new long[] {1, 2, 5}) {
            Receipt receipt = spend(fixture.backend(), 2, WINDOW, day);
            long before = redis.calls("evalsha") + redis.calls("eval");
            settle(fixture.backend(), receipt, actual);
            settleAgain(receipt);
            assertThat(redis.calls("evalsha") + redis.calls("eval") - before)
                    .as("%d instead of 2", actual)
                    // The first call of a script finds that Redis does not have it.
                    .isBetween(actual == 2 ? 0L : 1L, actual == 2 ? 0L : 2L);
        }
    }

    private void settleAgain(Receipt receipt) {
        assertThat(fixture.backend()
                        .settle(receipt, charge -> true, 7)
                        .toCompletableFuture()
                        .join())
                .isEmpty();
    }

    @Test
    void aCachedRejectionHasTheRetryAfterOfTheDebt() {
        Limit bucket = Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofMinutes(10));
        Limit fixed = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(10));
        long[] seconds = {840, 360, 600};
        int next = 0;
        for (Limit limit : List.of(WINDOW, bucket, fixed)) {
            settle(fixture.backend(), spend(fixture.backend(), 10, limit), 15);
            for (int call = 0; call < 3; call++) {
                Decision decision = fixture.acquire("k.a", 1, limit);
                assertThat(((Decision.Rejected) decision).retryAfter().orElseThrow())
                        .as("%s, call %d", limit, call)
                        .isBetween(Duration.ofSeconds(seconds[next] - 60), Duration.ofSeconds(seconds[next]));
            }
            assertThat(fixture.backend().knownRejection(List.of(TestBackend.charge("k.a", 1, limit))))
                    .isPresent();
            redis.drop(fixture.pattern());
            fixture.backend().reset(List.of(TestBackend.charge("k.a", 1, limit).policy()), "k.a");
            next++;
        }
    }

    @Test
    void aForeignValueIsNotChanged() {
        for (long actual : new long[] {1, 20}) {
            Receipt receipt = spend(fixture.backend(), 2, WINDOW);
            redis.call("SET", fixture.key("k.a"), "foreign");
            assertThatThrownBy(() -> new TestedBackend(fixture.backend()).settle(receipt, charge -> true, actual))
                    .isInstanceOfSatisfying(
                            BackendException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(BackendException.Reason.FOREIGN_STATE));
            assertThat(redis.text("GET", fixture.key("k.a"))).isEqualTo("foreign");
            redis.drop(fixture.pattern());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefundAfterAFailedSettlementReturnsNoPermitsOfOthers(boolean async) {
        Receipt receipt = spend(fixture.backend(), 2, WINDOW);
        spend(fixture.backend(), 6, WINDOW);
        byte[] stored = redis.bytes(fixture.key("k.a"));
        redis.call("SET", fixture.key("k.a"), "foreign");
        assertThatThrownBy(() -> {
                    if (async) {
                        fixture.backend()
                                .settle(receipt, charge -> true, 9)
                                .toCompletableFuture()
                                .join();
                    } else {
                        fixture.backend()
                                .settle(receipt, charge -> true, 9)
                                .toCompletableFuture()
                                .join();
                    }
                })
                .isInstanceOfAny(BackendException.class, CompletionException.class);
        redis.call("SET", fixture.key("k.a"), stored);
        fixture.backend().refund(receipt).toCompletableFuture().join();
        assertThat(fixture.remaining("k.a", WINDOW)).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void requestsOfABatchAreSettledOneByOne(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 1_000, Duration.ofDays(30));
        Charge charge = TestBackend.charge("k.a", 2, limit);
        List<CompletableFuture<Decision>> calls = new ArrayList<>();
        for (int call = 0; call < 100; call++) {
            calls.add(fixture.backend().acquireAsync(List.of(charge)).toCompletableFuture());
        }
        List<CompletableFuture<List<Charge>>> settled = new ArrayList<>();
        for (int call = 0; call < 100; call++) {
            Receipt receipt = ((Decision.Allowed) calls.get(call).join()).receipt();
            settled.add(fixture.backend().settle(receipt, any -> true, call % 5).toCompletableFuture());
        }
        settled.forEach(CompletableFuture::join);
        assertThat(fixture.remaining("k.a", limit)).isEqualTo(1_000 - 200);
    }

    @Test
    void leasedPermitsAreSettledInRedis() {
        RedissonBackend other = fixture.another();
        Limit limit = LeasedCalls.monthly(Algorithm.FIXED_WINDOW, 3_000);
        LeasedCalls calls = new LeasedCalls(fixture.backend(), other, LeasedCalls.charge(50, limit), timer::run).hot();
        List<Decision> allowed = calls.calls(100);
        for (int call = 0; call < 100; call++) {
            settle(fixture.backend(), ((Decision.Allowed) allowed.get(call)).receipt(), call < 60 ? 4 : 0);
        }
        calls.spendAll(3_000 - 60 * 3 + 40);
        other.close();
    }
}
