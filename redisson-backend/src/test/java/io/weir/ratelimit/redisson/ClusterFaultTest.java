// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Decisions over several masters while a master or the application stops. */
@Tag("fault")
class ClusterFaultTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void aDeadMasterFailsItsDecisionsInTimeAndTheySpendNothing() {
        try (ClusterFixture cluster = ClusterFixture.started(0, "--cluster-require-full-coverage", "no");
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE)) {
            List<String> storedKeys = fixture.storedKeys();
            Charge first = ClusterUnderFault.charge(storedKeys.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge second = ClusterUnderFault.charge(storedKeys.get(1), 1, Algorithm.SLIDING_WINDOW, 10_000_000, DAY);
            Charge dead = ClusterUnderFault.charge(storedKeys.get(2), 1, Algorithm.TOKEN_BUCKET, 10_000_000, DAY);
            Await.until("all three decide", LONG, () -> decides(fixture, first, second, dead));
            fixture.backend().reset(first.policy(), first.storedKey());
            fixture.backend().reset(second.policy(), second.storedKey());

            cluster.masters().get(2).kill();
            int without = 0;
            int late = 0;
            long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
            while (System.nanoTime() < end) {
                assertFailsInTime(fixture, first, dead);
                assertFailsInTime(fixture, dead, second);
                assertFailsInTime(fixture, first, dead, second);
                Stopwatch watch = Stopwatch.started();
                if (decides(fixture, first, second)) {
                    without++;
                } else {
                    // Only a pause of the machine may prevent it.
                    assertThat(watch.elapsed()).isLessThan(DEADLINE.minusMillis(100));
                    assertThat(System.nanoTime() - watch.startNanos()).isGreaterThanOrEqualTo(DEADLINE.toNanos());
                    late++;
                }
            }
            assertThat(without).isPositive();
            assertThat(fixture.spent(first)).isBetween((long) without, (long) without + late);
            assertThat(fixture.spent(second)).isBetween((long) without, (long) without + late);

            cluster.masters().get(2).start();
            Await.until("all three decide again", LONG, () -> decides(fixture, first, second, dead));
        }
    }

    private static boolean decides(ClusterUnderFault fixture, Charge... charges) {
        try {
            return fixture.backend().acquire(List.of(charges)).allowed();
        } catch (BackendException e) {
            return false;
        }
    }

    private static void assertFailsInTime(ClusterUnderFault fixture, Charge... charges) {
        Stopwatch watch = Stopwatch.started();
        assertThatThrownBy(() -> fixture.backend().acquire(List.of(charges))).isInstanceOf(BackendException.class);
        assertThat(watch.elapsed()).isLessThan(DEADLINE.plus(FaultCalls.MARGIN));
    }

    @Test
    void anApplicationThatStopsBetweenTwoSpendsLosesTheCostUntilTheWindowEnds() {
        Duration window = Duration.ofSeconds(5);
        try (ClusterUnderFault fixture = ClusterUnderFault.on(ClusterFixture.shared(), Duration.ofSeconds(20))) {
            List<String> storedKeys = fixture.storedKeys();
            Charge wide = ClusterUnderFault.charge(storedKeys.get(0), 2, Algorithm.FIXED_WINDOW, 100, window);
            Charge narrow = ClusterUnderFault.charge(storedKeys.get(1), 2, Algorithm.FIXED_WINDOW, 10, window);
            Charge wider = ClusterUnderFault.charge(storedKeys.get(2), 2, Algorithm.FIXED_WINDOW, 1_000, window);
            // Three peeks and the first spend are sent. Then the client is closed.
            RedissonClient closing = closingAfter(4, fixture.cluster());
            RedissonBackend application = new RedissonBackend(closing, fixture.namespace(), Duration.ofSeconds(2));
            assertThatThrownBy(() -> application.acquire(List.of(wide, narrow, wider)))
                    .isInstanceOf(BackendException.class);
            assertThat(fixture.spent(narrow)).as("spent first").isEqualTo(2);
            assertThat(fixture.spent(wide)).isZero();
            assertThat(fixture.spent(wider)).isZero();
            Await.until("the window has passed", window.multipliedBy(2), () -> fixture.spent(narrow) == 0);
        }
    }

    /** Returns a client that sends some scripts once it is ready, and shuts down instead of sending the next one. */
    private static RedissonClient closingAfter(int scripts, ClusterFixture cluster) {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useClusterServers()
                .addNodeAddress(cluster.masters().get(0).address())
                .setRetryAttempts(0);
        RedissonClient client = Redisson.create(config);
        AtomicInteger left = new AtomicInteger(scripts);
        Consumer<String> ends = method -> {
            if (method.equals("evalShaAsync") && left.getAndDecrement() == 0) {
                client.shutdown();
            }
        };
        return proxy(
                RedissonClient.class,
                client,
                method -> {},
                result -> result instanceof RScript script ? proxy(RScript.class, script, ends, same -> same) : result);
    }

    private static <T> T proxy(Class<T> type, T target, Consumer<String> before, UnaryOperator<Object> after) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    before.accept(method.getName());
                    try {
                        return after.apply(method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
