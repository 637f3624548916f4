// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Decisions over several masters while a master, or the application, goes away. */
class ClusterFaultTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void aDeadMasterFailsTheDecisionsThatNeedItInTimeAndTheyChargeNothing() {
        try (ClusterFixture cluster = ClusterFixture.started(0, "--cluster-require-full-coverage", "no");
                ClusterStore store = ClusterStore.on(cluster, DEADLINE)) {
            List<String> identities = store.identities();
            Charge first = ClusterStore.charge(identities.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge second = ClusterStore.charge(identities.get(1), 1, Algorithm.SLIDING_WINDOW, 10_000_000, DAY);
            Charge dead = ClusterStore.charge(identities.get(2), 1, Algorithm.TOKEN_BUCKET, 10_000_000, DAY);
            Await.until("all three decide", LONG, () -> decides(store, first, second, dead));
            store.backend().reset(first.policy(), first.identity());
            store.backend().reset(second.policy(), second.identity());

            cluster.masters().get(2).kill();
            int without = 0;
            int late = 0;
            long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
            while (System.nanoTime() < end) {
                assertFailsInTime(store, first, dead);
                assertFailsInTime(store, dead, second);
                assertFailsInTime(store, first, dead, second);
                Stopwatch watch = Stopwatch.started();
                if (decides(store, first, second)) {
                    without++;
                } else {
                    // Nothing but a machine that stood still may keep it.
                    assertThat(watch.elapsed()).isLessThan(DEADLINE.minusMillis(100));
                    assertThat(System.nanoTime() - watch.startNanos()).isGreaterThanOrEqualTo(DEADLINE.toNanos());
                    late++;
                }
            }
            assertThat(without).isPositive();
            assertThat(store.spent(first)).isBetween((long) without, (long) without + late);
            assertThat(store.spent(second)).isBetween((long) without, (long) without + late);

            cluster.masters().get(2).start();
            Await.until("all three decide again", LONG, () -> decides(store, first, second, dead));
        }
    }

    private static boolean decides(ClusterStore store, Charge... charges) {
        try {
            return store.backend().acquire(List.of(charges)).allowed();
        } catch (BackendException e) {
            return false;
        }
    }

    private static void assertFailsInTime(ClusterStore store, Charge... charges) {
        Stopwatch watch = Stopwatch.started();
        assertThatThrownBy(() -> store.backend().acquire(List.of(charges))).isInstanceOf(BackendException.class);
        assertThat(watch.elapsed()).isLessThan(DEADLINE.plus(FaultCalls.MARGIN));
    }

    @Test
    void anApplicationThatEndsBetweenTheSpendsLosesTheCostOfItsDecisionUntilTheWindowPasses() {
        Duration window = Duration.ofSeconds(5);
        try (ClusterStore store = ClusterStore.on(ClusterFixture.shared(), Duration.ofSeconds(20))) {
            List<String> identities = store.identities();
            Charge wide = ClusterStore.charge(identities.get(0), 2, Algorithm.FIXED_WINDOW, 100, window);
            Charge narrow = ClusterStore.charge(identities.get(1), 2, Algorithm.FIXED_WINDOW, 10, window);
            Charge wider = ClusterStore.charge(identities.get(2), 2, Algorithm.FIXED_WINDOW, 1_000, window);
            // Three looks and the first spend; then it is gone.
            RedissonClient dying = dyingAfter(4, store.cluster());
            RedissonBackend application = new RedissonBackend(dying, store.namespace(), Duration.ofSeconds(2));
            assertThatThrownBy(() -> application.acquire(List.of(wide, narrow, wider)))
                    .isInstanceOf(BackendException.class);
            assertThat(store.spent(narrow)).as("spent first").isEqualTo(2);
            assertThat(store.spent(wide)).isZero();
            assertThat(store.spent(wider)).isZero();
            Await.until("the window has passed", window.multipliedBy(2), () -> store.spent(narrow) == 0);
        }
    }

    /** A client that sends only so many scripts after it was made ready, and is shut down as the next is to leave. */
    private static RedissonClient dyingAfter(int scripts, ClusterFixture cluster) {
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
                result -> result instanceof RScript made ? proxy(RScript.class, made, ends, same -> same) : result);
    }

    private static <T> T proxy(Class<T> type, T target, Consumer<String> before, UnaryOperator<Object> after) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, words) -> {
            before.accept(method.getName());
            try {
                return after.apply(method.invoke(target, words));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }
}
