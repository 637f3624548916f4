// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.script.LimitCodec;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** At every instant every key has a time to live that is long enough for its state, and at most twice the longest debt. */
@Tag("redis")
class EveryInstantExpiryTest {
    private static final int THREADS = 16;
    private static final int CHECKS = 1_000;
    private static final int STORED_KEYS = 6;

    private static final PenaltyRule PENALTIES =
            new PenaltyRule(5, Duration.ofMillis(200), Duration.ofMillis(20), 2, Duration.ofMillis(80));

    private static final long EPOCH_SECONDS = 1_735_689_600L;

    /** Redis counts the time to live in whole milliseconds, in some versions from the start of a script, which may be slow. */
    private static final long CLOCK_STEP_MICROS = 20_000;

    /** Returns whether a key exists, its time to live, its value, and the time, all at one instant. */
    private static final String LOOK = """
            local life, state = redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[1])
            local time = redis.call('TIME')
            return {life, state, time[1], time[2]}
            """;

    private final long seed = Long.getLong(
            "weir.test.seed",
            Boolean.getBoolean("weir.test.full") ? ThreadLocalRandom.current().nextLong() : 1);
    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    @BeforeEach
    void connect() {
        fixture.ready();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
    }

    @Test
    void everyKeyHasATimeToLiveAfterEachOperation() throws InterruptedException {
        System.out.printf("keys at every instant: -Dweir.test.seed=%d%n", seed);
        List<Limit> all = List.of(
                Limit.of(Algorithm.FIXED_WINDOW, 40, Duration.ofMillis(150)),
                Limit.of(Algorithm.SLIDING_WINDOW, 40, Duration.ofMillis(160)),
                Limit.of(Algorithm.SLIDING_LOG, 40, Duration.ofMillis(170)),
                Limit.of(Algorithm.TOKEN_BUCKET, 40, Duration.ofMillis(180), 60),
                Limit.of(Algorithm.TOKEN_BUCKET, 40, Duration.ofMillis(190)).withMaxWait(Duration.ofMillis(300)),
                Limit.of(Algorithm.LEAKY_BUCKET, 40, Duration.ofMillis(200)).withMaxWait(Duration.ofMillis(500)),
                Limit.of(Algorithm.SLIDING_WINDOW, 400, Duration.ofHours(1)),
                Limit.of(Algorithm.SLIDING_LOG, 400, Duration.ofHours(2)));
        checkWhile((random, receipts) -> change(random, all, receipts), key -> assertLives(key, all));
    }

    /**
     * Slots, limits of a calendar, settlements, blocks and penalties share keys with each other. A mark of a notification is a fixed window or
     * a limit of a calendar, and a pause of a client is a block.
     */
    @Test
    void everyKeyOfTheOtherOperationsHasATimeToLive() throws InterruptedException {
        System.out.printf("keys of all operations at every instant: -Dweir.test.seed=%d%n", seed);
        List<Limit> all = List.of(
                Limit.of(Algorithm.FIXED_WINDOW, 40, Duration.ofMillis(140)),
                Limit.of(Algorithm.SLIDING_WINDOW, 40, Duration.ofMillis(150)),
                Limit.of(Algorithm.SLIDING_LOG, 40, Duration.ofMillis(160)),
                Limit.of(Algorithm.TOKEN_BUCKET, 40, Duration.ofMillis(170)),
                Limit.of(40, new CalendarPeriod(CalendarPeriod.Unit.MINUTE, ZoneId.of("UTC"), 1)),
                Limit.concurrency(5, Duration.ofSeconds(1)));
        checkWhile((random, receipts) -> operate(random, all, receipts), this::assertExpires);
    }

    private void checkWhile(BiConsumer<Random, ArrayDeque<Receipt>> change, Predicate<String> isChecked)
            throws InterruptedException {
        AtomicBoolean busy = new AtomicBoolean(true);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seed + i);
            Thread thread = new Thread(() -> {
                try {
                    ArrayDeque<Receipt> receipts = new ArrayDeque<>();
                    while (busy.get()) {
                        change.accept(random, receipts);
                    }
                } catch (RuntimeException | Error e) {
                    failure.set(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        int checks = 0;
        try {
            long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
            long latest = end + Duration.ofSeconds(30).toNanos();
            while ((System.nanoTime() < end || checks <= CHECKS && System.nanoTime() < latest)
                    && failure.get() == null) {
                for (String key : redis.keys(fixture.pattern())) {
                    checks += isChecked.test(key) ? 1 : 0;
                }
            }
        } finally {
            busy.set(false);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertThat(failure.get()).isNull();
        assertThat(checks).as("checks of a key").isGreaterThan(CHECKS);
    }

    private void change(Random random, List<Limit> all, ArrayDeque<Receipt> receipts) {
        List<Limit> some = new ArrayList<>(all);
        Collections.shuffle(some, random);
        PolicyLimits policy = new PolicyLimits(TestBackend.POLICY, some.subList(0, 1 + random.nextInt(2)));
        String storedKey = "k." + random.nextInt(STORED_KEYS);
        Charge charge = new Charge(policy, storedKey, 1 + random.nextInt(5), random.nextInt(2) * 400_000L);
        switch (random.nextInt(10)) {
            case 0 -> fixture.backend().refund(charge).toCompletableFuture().join();
            case 1 -> fixture.backend().reset(List.of(policy), storedKey);
            case 2, 3 -> {
                if (!receipts.isEmpty()) {
                    fixture.backend()
                            .refund(random.nextBoolean() ? receipts.pollFirst() : receipts.pollLast())
                            .toCompletableFuture()
                            .join();
                }
            }
            default -> {
                if (fixture.backend().acquire(List.of(charge)) instanceof Decision.Allowed allowed) {
                    receipts.add(allowed.receipt());
                }
            }
        }
    }

    private void operate(Random random, List<Limit> all, ArrayDeque<Receipt> receipts) {
        List<Limit> some = new ArrayList<>(all);
        Collections.shuffle(some, random);
        PolicyLimits policy = new PolicyLimits(TestBackend.POLICY, some.subList(0, 1 + random.nextInt(3)));
        String storedKey = "k." + random.nextInt(STORED_KEYS);
        RedissonBackend backend = fixture.backend();
        switch (random.nextInt(12)) {
            case 0 ->
                backend.block(policy, storedKey, Duration.ofMillis(1 + random.nextInt(100)))
                        .toCompletableFuture()
                        .join();
            case 1 -> backend.unblock(policy, storedKey).toCompletableFuture().join();
            case 2 ->
                backend.countRejections(policy, storedKey, 1 + random.nextInt(3), PENALTIES)
                        .toCompletableFuture()
                        .join();
            case 3, 4 -> {
                if (!receipts.isEmpty()) {
                    backend.settle(receipts.peekFirst(), charge -> true, random.nextInt(4))
                            .toCompletableFuture()
                            .join();
                }
            }
            case 5, 6 -> {
                if (!receipts.isEmpty()) {
                    backend.release(receipts.pollFirst()).toCompletableFuture().join();
                }
            }
            case 7 -> backend.renew(List.copyOf(receipts)).toCompletableFuture().join();
            case 8 -> {
                if (!receipts.isEmpty()) {
                    backend.refund(receipts.pollLast()).toCompletableFuture().join();
                }
            }
            default -> {
                if (backend.acquire(List.of(new Charge(policy, storedKey, 1))) instanceof Decision.Allowed allowed) {
                    receipts.add(allowed.receipt());
                }
            }
        }
    }

    /** Checks that a key that exists expires, at most some minutes later. */
    private boolean assertExpires(String key) {
        long lifeMillis = redis.number("PTTL", key);
        assertThat(lifeMillis)
                .as("time to live of %s", key)
                .isNotEqualTo(-1)
                .isLessThanOrEqualTo(Duration.ofMinutes(5).toMillis());
        return lifeMillis != -2;
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG"})
    void aWindowKeepsALongEnoughTimeToLiveWhenItsPermitsChange(Algorithm algorithm) {
        Duration window = Duration.ofHours(1);
        String key = fixture.key("k.a");
        for (long permits : new long[] {10, 100, 3, 1_000, 5, 50}) {
            Limit limit = Limit.of(algorithm, permits, window);
            while (fixture.acquire("k.a", 2, limit).allowed()) {
                assertThat(assertLives(key, List.of(limit))).isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG"})
    void aWindowThatIsRefundedCompletelyAndSpentAgainLivesFromItsNewStart(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 10, Duration.ofMillis(400));
        String key = fixture.key("k.a");
        long end = System.nanoTime() + Duration.ofMillis(900).toNanos();
        while (System.nanoTime() < end) {
            if (fixture.acquire("k.a", 3, limit) instanceof Decision.Allowed allowed) {
                assertLives(key, List.of(limit));
                fixture.backend()
                        .refund(allowed.receipt())
                        .toCompletableFuture()
                        .join();
                assertLives(key, List.of(limit));
                fixture.acquire("k.a", 1, limit);
                assertLives(key, List.of(limit));
                fixture.backend()
                        .refund(TestBackend.charge("k.a", 1, limit))
                        .toCompletableFuture()
                        .join();
                assertLives(key, List.of(limit));
            }
        }
    }

    @Test
    void aChargeInTheSecondWindowProlongsASlidingWindowByTwoWindows() {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(2));
        String key = fixture.key("k.a");
        fixture.acquire("k.a", 8, limit);
        long start = start(key);
        Await.until("the second window has begun and has room", Duration.ofSeconds(10), () -> {
            boolean allowed = fixture.acquire("k.a", 3, limit).allowed();
            return allowed && start(key) == start + limit.windowMicros();
        });
        assertThat(assertLives(key, List.of(limit))).isTrue();
        assertThat(redis.number("PTTL", key)).isGreaterThan(2_000);
        fixture.backend()
                .refund(TestBackend.charge("k.a", 3, limit))
                .toCompletableFuture()
                .join();
        assertThat(assertLives(key, List.of(limit))).isTrue();
        fixture.acquire("k.a", 1, limit);
        assertThat(assertLives(key, List.of(limit))).isTrue();
    }

    private long start(String key) {
        byte[] bytes = redis.bytes(key);
        return bytes == null
                ? 0
                : StoredSection.number(
                        ByteBuffer.wrap(StoredSection.of(bytes).get(0).state()), 7);
    }

    /** Checks that a key that exists lives as long as the state of a limit differs from an untouched one, and not forever. */
    private boolean assertLives(String key, List<Limit> limits) {
        List<?> check = (List<?>) redis.call("EVAL", LOOK, 1, key);
        long lifeMillis = (Long) check.get(0);
        if (lifeMillis == -2) {
            return false;
        }
        long now =
                (Long.parseLong(text(check.get(2))) - EPOCH_SECONDS) * 1_000_000 + Long.parseLong(text(check.get(3)));
        assertThat(lifeMillis).as("time to live of %s", key).isNotEqualTo(-1);
        for (StoredSection section : StoredSection.of((byte[]) check.get(1))) {
            assertThat(lifeMillis * 1_000 + CLOCK_STEP_MICROS)
                    .as("time to live of %s in µs, %s", key, section.name())
                    .isGreaterThanOrEqualTo(resetAfterMicros(section.state(), limitOf(section, limits), now));
        }
        assertThat(lifeMillis * 1_000)
                .as("time to live of %s in µs", key)
                .isLessThanOrEqualTo(2
                                * limits.stream()
                                        .mapToLong(EveryInstantExpiryTest::longestRecoveryMicros)
                                        .max()
                                        .orElseThrow()
                        + 1_000_000);
        return true;
    }

    private static Limit limitOf(StoredSection section, List<Limit> limits) {
        return limits.stream()
                .filter(limit -> section.name().equals(LimitCodec.letterOf(limit) + "" + limit.windowMicros() / 1_000))
                .findFirst()
                .orElseThrow();
    }

    private static long resetAfterMicros(byte[] raw, Limit limit, long now) {
        ByteBuffer in = ByteBuffer.wrap(raw);
        LimitState state = switch (((WindowLimit) limit).algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(StoredSection.number(in, 7), StoredSection.number(in, 6));
            case SLIDING_WINDOW ->
                new SlidingWindowState(
                        StoredSection.number(in, 7), StoredSection.number(in, 6), StoredSection.number(in, 6));
            case TOKEN_BUCKET, LEAKY_BUCKET ->
                new TokenBucketState(
                        StoredSection.number(in, 7), StoredSection.number(in, 7), (int) StoredSection.number(in, 1));
            case SLIDING_LOG -> null;
        };
        if (state == null) {
            in.position(raw.length - 11);
            return StoredSection.number(in, 7) + limit.windowMicros() - now;
        }
        return state.asOf(limit, now).resetAfterMicros(limit, now);
    }

    private static long longestRecoveryMicros(Limit limit) {
        return switch (((WindowLimit) limit).algorithm()) {
            case FIXED_WINDOW, SLIDING_LOG -> limit.windowMicros();
            case SLIDING_WINDOW -> 2 * limit.windowMicros();
            case TOKEN_BUCKET, LEAKY_BUCKET -> TokenBucketState.maxDebt(limit) / limit.permits() * limit.unitMicros();
        };
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, US_ASCII);
    }
}
