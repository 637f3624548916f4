// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Slots while Redis is stopped: those taken before are released after the outage, and the failure modes decide during it. */
@Tag("fault")
class SlotsInOutageTest {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final int CALLS = 6;

    private final RedisProcess redis = RedisProcess.started();
    private RedissonBackend backend;

    @BeforeEach
    void connect() {
        backend = new TestConfig(Map.of(RedisSettings.ADDRESS, redis.address()))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
        FaultCalls.awaitDecision(backend);
    }

    @AfterEach
    void disconnect() {
        backend.close();
        redis.close();
    }

    /** Creates an instance that has decided once, because the first decision also loads classes, which can take longer than the deadline. */
    private SlotEngine instance(Duration timeout, FailureMode mode) {
        SlotEngine instance = SlotEngine.of(backend, CALLS, timeout, Duration.ZERO, mode);
        Await.until("Redis decides", SOON, () -> {
            Decision first = instance.limiter().acquire(SlotEngine.POLICY, "first");
            instance.limiter().release(first.receipt());
            return first instanceof Decision.Allowed;
        });
        return instance;
    }

    private static Decision call(SlotEngine instance) {
        return instance.limiter().acquire(SlotEngine.POLICY, "a");
    }

    private static Decision callOnRedis(SlotEngine instance) {
        Decision decision = call(instance);
        assertThat(decision).isInstanceOf(Decision.Allowed.class);
        return decision;
    }

    private static long free(SlotEngine instance) {
        return instance.limiter().peek(SlotEngine.POLICY, "a").get(0).remaining();
    }

    private static void awaitFree(SlotEngine instance, long expected) {
        Await.until(expected + " slots are free", SOON, () -> {
            try {
                return free(instance) == expected;
            } catch (RuntimeException e) {
                return false;
            }
        });
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void slotsTakenBeforeAnOutageAreReleasedAfterIt(FailureMode mode) {
        SlotEngine instance = instance(Duration.ofMinutes(10), mode);
        List<Receipt> before = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            before.add(callOnRedis(instance).receipt());
        }
        redis.pause();
        before.forEach(instance.limiter()::release);
        List<Decision> during = new ArrayList<>();
        for (int call = 0; call < 4; call++) {
            during.add(call(instance));
        }
        assertThat(during).allMatch(Decision.Degraded.class::isInstance);
        long allowed = during.stream().filter(Decision::allowed).count();
        switch (mode) {
            case OPEN -> assertThat(allowed).isEqualTo(4);
            case CLOSED -> assertThat(allowed).isZero();
            case LOCAL ->
                assertThat(allowed).as("the share of one of three instances").isEqualTo(2);
            case SAMPLE ->
                assertThat(during.subList(0, 3))
                        .as("one call in three")
                        .filteredOn(Decision::allowed)
                        .hasSize(1);
        }
        during.forEach(decision -> instance.limiter().release(decision.receipt()));
        redis.resume();
        awaitFree(instance, CALLS);
        assertThat(instance.engine().ends().slots().held(SlotEngine.POLICY)).isZero();
    }

    @Test
    @Tag("ci")
    void aCallThatRunsThroughAShortOutageKeepsItsSlot() {
        SlotEngine instance = instance(Duration.ofSeconds(6), FailureMode.OPEN);
        Receipt receipt = callOnRedis(instance).receipt();
        redis.pause();
        Await.until("the outage is seen", SOON, () -> call(instance) instanceof Decision.Degraded);
        redis.resume();
        long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
        Await.until("more time than the timeout has passed", SOON, () -> System.nanoTime() - end > 0);
        awaitFree(instance, CALLS - 1);
        assertThat(instance.engine().ends().slots().lost()).isZero();
        instance.limiter().release(receipt);
        awaitFree(instance, CALLS);
    }

    @Test
    void aRedisWithoutItsDataLosesTheSlotsOfRunningCalls() {
        SlotEngine instance = instance(Duration.ofSeconds(3), FailureMode.OPEN);
        Receipt receipt = callOnRedis(instance).receipt();
        redis.kill();
        redis.start();
        awaitFree(instance, CALLS);
        Await.until(
                "the loss is counted",
                SOON,
                () -> instance.engine().ends().slots().lost() == 1);
        instance.limiter().release(receipt);
        assertThat(instance.engine().ends().slots().held(SlotEngine.POLICY)).isZero();
    }

    /** Starts an instance with a breaker behind a proxy. */
    private RedissonBackend startedWithBreaker(FaultProxy proxy) {
        RedissonBackend started = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, proxy.address(), "CircuitBreaker/enabled", "true"))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
        FaultCalls.awaitDecision(started);
        return started;
    }

    /** Calls until the breaker is open. The instance calls nothing afterwards. */
    private static void openBreaker(RedissonBackend started) {
        Await.until("the breaker opens", SOON, () -> {
            try {
                started.acquire(List.of(TestBackend.charge("k.opening", 1, FaultCalls.LIMIT)));
            } catch (BackendException e) {
                return e.reason() == BackendException.Reason.BREAKER_OPEN;
            }
            return false;
        });
    }

    @Test
    void anInstanceWithoutCallsReleasesSlotsAfterAnOutage() {
        SlotEngine other = instance(Duration.ofMinutes(10), FailureMode.OPEN);
        try (FaultProxy proxy = FaultProxy.inFrontOf(redis)) {
            RedissonBackend idle = startedWithBreaker(proxy);
            SlotEngine instance = SlotEngine.of(idle, CALLS, Duration.ofMinutes(10), Duration.ZERO, FailureMode.OPEN);
            Receipt receipt = callOnRedis(instance).receipt();
            proxy.blackhole();
            openBreaker(idle);
            instance.limiter().release(receipt);
            assertThat(free(other)).isEqualTo(CALLS - 1);
            proxy.forward();
            awaitFree(other, CALLS);
            assertThat(idle.status().breakerOpen()).isFalse();
            assertThat(instance.engine().ends().slots().lost()).isZero();
            idle.close();
        }
    }

    @Test
    @Tag("ci")
    void anInstanceWithoutCallsKeepsTheSlotOfARunningCallAfterAnOutage() {
        Duration timeout = Duration.ofSeconds(12);
        SlotEngine other = instance(timeout, FailureMode.OPEN);
        try (FaultProxy proxy = FaultProxy.inFrontOf(redis)) {
            RedissonBackend idle = startedWithBreaker(proxy);
            SlotEngine instance = SlotEngine.of(idle, CALLS, timeout, Duration.ZERO, FailureMode.OPEN);
            Receipt receipt = callOnRedis(instance).receipt();
            proxy.blackhole();
            openBreaker(idle);
            proxy.forward();
            long end = System.nanoTime() + timeout.plusSeconds(2).toNanos();
            Await.until("more time than the timeout has passed", SOON, () -> System.nanoTime() - end > 0);
            assertThat(free(other)).isEqualTo(CALLS - 1);
            assertThat(instance.engine().ends().slots().lost()).isZero();
            // Without a reference to its receipt, a call counts as ended.
            instance.limiter().release(receipt);
            instance.engine().stop();
            idle.close();
        }
    }

    @Test
    void theSlotOfACallWhoseReplyIsLostIsReleased() {
        SlotEngine other = instance(Duration.ofMinutes(10), FailureMode.CLOSED);
        try (FaultProxy proxy = FaultProxy.inFrontOf(redis)) {
            RedissonBackend unlucky = startedWithBreaker(proxy);
            SlotEngine instance =
                    SlotEngine.of(unlucky, CALLS, Duration.ofMinutes(10), Duration.ZERO, FailureMode.CLOSED);
            instance.limiter().release(callOnRedis(instance).receipt());
            awaitFree(other, CALLS);
            proxy.loseReplies();
            assertThat(call(instance).allowed()).isFalse();
            assertThat(free(other)).isEqualTo(CALLS - 1);
            proxy.forward();
            awaitFree(other, CALLS);
            unlucky.close();
        }
    }

    @Test
    void aCommandThatRunsAfterTheClientHasGivenItUpKeepsNoSlot() {
        SlotEngine instance = instance(Duration.ofMinutes(10), FailureMode.CLOSED);
        redis.pause();
        assertThat(call(instance).allowed()).isFalse();
        long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        Await.until("the client expects no reply any more", SOON, () -> System.nanoTime() - end > 0);
        redis.resume();
        awaitFree(instance, CALLS);
    }

    @Test
    void theSlotsOfADeadInstanceExpire() {
        SlotEngine dead = instance(Duration.ofSeconds(2), FailureMode.OPEN);
        SlotEngine living = instance(Duration.ofSeconds(2), FailureMode.OPEN);
        List<Receipt> forgotten = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            // The engine of an instance renews slots, so this takes them without one.
            forgotten.add(backend.acquire(List.of(SlotInstance.charge(CALLS, Duration.ofSeconds(2), "k.a")))
                    .receipt());
        }
        assertThat(call(dead).allowed()).isFalse();
        awaitFree(living, CALLS);
        forgotten.forEach(
                receipt -> backend.release(receipt).toCompletableFuture().join());
        assertThat(free(living)).isEqualTo(CALLS);
    }
}
