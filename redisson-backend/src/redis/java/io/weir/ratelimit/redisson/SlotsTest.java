// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Concurrency limits on a real Redis, by its clock: what is stored, several instances, and foreign values. */
@Tag("redis")
class SlotsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Limit TWO = Limit.concurrency(2, TIMEOUT);
    private static final Limit WINDOW = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofSeconds(1));

    private final RedisConnection redis = RedisFixture.shared().connect();
    private TestBackend fixture;

    @BeforeEach
    void connect() {
        fixture = TestBackend.on(RedisFixture.shared().address()).ready();
        redis.drop(fixture.pattern());
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
    }

    private static void release(RedissonBackend backend, Receipt receipt) {
        backend.release(receipt).toCompletableFuture().join();
    }

    private byte[] stored() {
        return (byte[]) redis.call("GET", fixture.key("k.a"));
    }

    @Test
    void aKeyStoresItsSlotsWithATimeToLive() {
        Decision first = fixture.acquire("k.a", 1, TWO);
        Decision second = fixture.acquire("k.a", 1, TWO);
        ByteBuffer bytes = ByteBuffer.wrap(stored());
        assertThat((char) bytes.get()).isEqualTo('n');
        assertThat(StoredSection.number(bytes, 5)).as("no window").isEqualTo(1);
        long last = StoredSection.number(bytes, 7);
        assertThat(StoredSection.number(bytes, 2)).as("length").isEqualTo(7 + 2 * 19);
        long earliest = StoredSection.number(bytes, 7);
        long instance = StoredSection.number(bytes, 6);
        long number = StoredSection.number(bytes, 6);
        assertThat(StoredSection.number(bytes, 7)).isEqualTo(earliest).isLessThanOrEqualTo(last);
        assertThat(StoredSection.number(bytes, 6)).isEqualTo(instance);
        assertThat(StoredSection.number(bytes, 6)).isGreaterThan(number);
        assertThat(StoredSection.number(bytes, 7)).isEqualTo(last);
        assertThat((long) redis.call("PTTL", fixture.key("k.a")))
                .isBetween(TIMEOUT.toMillis() - 20_000, TIMEOUT.toMillis());

        release(fixture.backend(), first.receipt());
        assertThat(stored()).hasSize(15 + 7 + 19);
        assertThat((long) redis.call("PTTL", fixture.key("k.a"))).isPositive();
        release(fixture.backend(), second.receipt());
        assertThat(redis.call("EXISTS", fixture.key("k.a"))).isEqualTo(0L);
    }

    @Test
    void aRenewalExtendsTheTimeToLive() {
        Limit brief = Limit.concurrency(2, Duration.ofSeconds(5));
        Decision decision = fixture.acquire("k.a", 1, brief);
        redis.call("PEXPIRE", fixture.key("k.a"), "3000");
        assertThat(fixture.backend()
                        .renew(List.of(decision.receipt()))
                        .toCompletableFuture()
                        .join())
                .isEmpty();
        assertThat((long) redis.call("PTTL", fixture.key("k.a"))).isBetween(3_001L, 5_000L);
    }

    @Test
    void aReleaseKeepsTheEndOfTheLatestSlot() {
        Limit brief = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofSeconds(30));
        Decision decision = fixture.acquire("k.a", 1, brief, TWO);
        long before = (long) redis.call("PTTL", fixture.key("k.a"));
        release(fixture.backend(), decision.receipt());
        assertThat(StoredSection.of(stored())).extracting(StoredSection::name).containsExactly("f30000");
        assertThat((long) redis.call("PTTL", fixture.key("k.a"))).isBetween(30_001L, before);
    }

    @Test
    void aReleaseKeepsTheStatesOfOtherLimits() {
        Decision decision = fixture.acquire("k.a", 7, WINDOW.withPermits(100), TWO);
        release(fixture.backend(), decision.receipt());
        assertThat(StoredSection.of(stored())).extracting(StoredSection::name).containsExactly("f1000");
    }

    @Test
    void aRejectionIsNotRemembered() {
        TestBackend other = fixture.anotherClient();
        try {
            fixture.acquire("k.a", 1, TWO);
            Decision held = other.acquire("k.a", 1, TWO);
            Charge charge = TestBackend.charge("k.a", 1, TWO);
            for (int call = 0; call < 20; call++) {
                assertThat(fixture.backend().acquire(List.of(charge)).allowed()).isFalse();
                assertThat(fixture.backend().knownRejection(List.of(charge))).isEqualTo(Optional.empty());
            }
            release(other.backend(), held.receipt());
            assertThat(fixture.backend().acquire(List.of(charge)).allowed()).isTrue();
        } finally {
            other.close();
        }
    }

    @Test
    void equalRequestsOfAHotKeyTakeExactlyTheSlots() throws Exception {
        int slots = 7;
        int threads = 32;
        int rounds = 50;
        Limit limit = Limit.concurrency(slots, TIMEOUT);
        RedissonBackend second = fixture.another();
        AtomicInteger allowed = new AtomicInteger();
        List<Integer> allowedByRound = new ArrayList<>();
        // All threads have their decision before a slot is released, and all slots are free before the next round.
        CyclicBarrier decided = new CyclicBarrier(threads, () -> allowedByRound.add(allowed.getAndSet(0)));
        CyclicBarrier released = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                RedissonBackend backend = thread % 2 == 0 ? fixture.backend() : second;
                all.add(pool.submit(() -> {
                    for (int round = 0; round < rounds; round++) {
                        Decision decision = backend.acquire(List.of(TestBackend.charge("k.a", 1, limit)));
                        if (decision.allowed()) {
                            allowed.incrementAndGet();
                        }
                        decided.await();
                        if (decision.allowed()) {
                            release(backend, decision.receipt());
                        }
                        released.await();
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
            second.close();
        }
        assertThat(allowedByRound).hasSize(rounds).containsOnly(slots);
        assertThat(fixture.remaining("k.a", limit)).isEqualTo(slots);
    }

    @Test
    void oneCallOfAScriptReleasesManyReceipts() {
        List<Receipt> receipts = new ArrayList<>();
        for (int key = 0; key < 200; key++) {
            receipts.add(fixture.acquire("k." + key, 1, TWO).receipt());
        }
        long before = redis.calls("evalsha");
        receipts.stream()
                .map(receipt -> fixture.backend().release(receipt).toCompletableFuture())
                .toList()
                .forEach(released -> released.join());
        assertThat(redis.calls("evalsha") - before).isLessThan(200);
        assertThat((List<?>) redis.call("KEYS", fixture.pattern())).isEmpty();
    }

    @Test
    void aForeignValueFailsItsKeyAloneAndIsNotChanged() {
        Decision decision = fixture.acquire("k.a", 1, TWO);
        Decision other = fixture.acquire("k.b", 1, TWO);
        byte[] foreign = stored();
        foreign[14]++;
        redis.call("SET", fixture.key("k.a"), foreign);
        assertThatThrownBy(() -> fixture.acquire("k.a", 1, TWO))
                .isInstanceOfSatisfying(
                        BackendException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(BackendException.Reason.FOREIGN_STATE));
        assertThatThrownBy(() -> release(fixture.backend(), decision.receipt()))
                .hasCauseInstanceOf(BackendException.class);
        assertThat(stored()).isEqualTo(foreign);
        release(fixture.backend(), other.receipt());
        assertThat(fixture.remaining("k.b", TWO)).isEqualTo(2);
    }

    @Test
    void aForeignValueDoesNotHinderTheRenewalOfOtherKeys() {
        Limit brief = Limit.concurrency(2, Duration.ofSeconds(5));
        Receipt foreign = fixture.acquire("k.a", 1, brief).receipt();
        Receipt lost = fixture.acquire("k.b", 1, brief).receipt();
        Receipt held = fixture.acquire("k.c", 1, brief).receipt();
        redis.call("SET", fixture.key("k.a"), "foreign");
        redis.call("DEL", fixture.key("k.b"));
        redis.call("PEXPIRE", fixture.key("k.c"), "3000");
        assertThat(fixture.backend()
                        .renew(List.of(foreign, lost, held))
                        .toCompletableFuture()
                        .join())
                .containsExactly(foreign, lost);
        assertThat((long) redis.call("PTTL", fixture.key("k.c"))).isBetween(3_001L, 5_000L);
        assertThat(redis.text("GET", fixture.key("k.a"))).isEqualTo("foreign");
    }

    @Test
    void aSlotThatIsTakenTooLateIsReleased() {
        List<AcquireResult> late = new ArrayList<>();
        RedisKeys keys = RedisKeys.of(fixture.namespace());
        AcquireRequest request = new RequestFactory(keys, RejectionCache.disabled(keys), late::add)
                .create(List.of(TestBackend.charge("k.a", 1, TWO)), AcquireRequest.Operation.SPEND, System.nanoTime());
        request.completeExceptionally(BlockingAwait.timedOut(Duration.ofMillis(100)));
        AcquireResult rejected = new AcquireResult(List.of(), false, false, 0, new RedisTime(1, 0, 0));
        request.complete(rejected);
        assertThat(late).isEmpty();
        AcquireResult spent = new AcquireResult(List.of(), true, true, 0, new RedisTime(1, 0, 0));
        request.complete(spent);
        assertThat(late).containsExactly(spent);
    }

    @Test
    void aWaitingCallGetsASlotThatAnotherInstanceReleases() {
        RedissonBackend second = fixture.another();
        try {
            SlotEngine here = SlotEngine.of(fixture.backend(), 1, TIMEOUT, SOON, FailureMode.CLOSED);
            SlotEngine there = SlotEngine.of(second, 1, TIMEOUT, SOON, FailureMode.CLOSED);
            Receipt receipt = here.limiter().acquire(SlotEngine.POLICY, "a").receipt();
            CompletableFuture<Decision> waiting =
                    there.limiter().acquireAsync(SlotEngine.POLICY, "a").toCompletableFuture();
            assertThat(waiting).isNotDone();
            here.limiter().release(receipt);
            Decision decision = waiting.join();
            assertThat(decision.allowed()).isTrue();
            there.limiter().release(decision.receipt());
            Await.until(
                    "the slot is free",
                    SOON,
                    () -> here.limiter().peek(SlotEngine.POLICY, "a").get(0).remaining() == 1);
        } finally {
            second.close();
        }
    }

    @Test
    void anInstanceWithoutTheLimitKeepsTheSlots() {
        fixture.acquire("k.a", 1, TWO);
        fixture.acquire("k.a", 1, WINDOW);
        Charge both = TestBackend.charge("k.a", 1, WINDOW, TWO);
        assertThat(fixture.backend().peek(List.of(both)))
                .last()
                .extracting(Quota::remaining)
                .isEqualTo(1L);
        Await.until("the window ends", SOON, () -> fixture.remaining("k.a", WINDOW) == 100);
        fixture.acquire("k.a", 1, WINDOW);
        assertThat(fixture.backend().peek(List.of(both)))
                .last()
                .extracting(Quota::remaining)
                .isEqualTo(1L);
    }
}
