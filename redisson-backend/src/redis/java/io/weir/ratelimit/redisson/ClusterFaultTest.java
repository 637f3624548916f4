// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
@Tag("ci")
@Tag("fault")
class ClusterFaultTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final int ROUNDS_AFTER_DETECTION = 10;

    @Test
    void aDeadMasterFailsItsDecisionsInTimeAndTheySpendNothing() {
        try (ClusterFixture cluster = ClusterFixture.started(0, "--cluster-require-full-coverage", "no");
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE);
                ClusterUnderFault patient = fixture.another(LONG)) {
            List<String> storedKeys = fixture.storedKeys();
            Charge first = ClusterUnderFault.charge(storedKeys.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge second = ClusterUnderFault.charge(storedKeys.get(1), 1, Algorithm.SLIDING_WINDOW, 10_000_000, DAY);
            Charge dead = ClusterUnderFault.charge(storedKeys.get(2), 1, Algorithm.TOKEN_BUCKET, 10_000_000, DAY);
            Await.until("all three decide", LONG, () -> decides(fixture, first, second, dead));
            assertThat(decides(patient, first, second, dead)).isTrue();
            fixture.backend().reset(List.of(first.policy()), first.storedKey());
            fixture.backend().reset(List.of(second.policy()), second.storedKey());

            cluster.masters().get(2).kill();
            int without = 0;
            // The other masters consider the dead one failed after some time, and the client finds out.
            for (int after = 0; after < ROUNDS_AFTER_DETECTION; ) {
                assertFailsInTime(fixture, first, dead);
                assertFailsInTime(fixture, dead, second);
                assertFailsInTime(fixture, first, dead, second);
                assertThat(decides(patient, first, second)).isTrue();
                without++;
                after += isDetected(cluster) ? 1 : 0;
            }
            assertThat(fixture.spent(first)).isEqualTo(without);
            assertThat(fixture.spent(second)).isEqualTo(without);

            cluster.masters().get(2).start();
            Await.until("all three decide again", LONG, () -> decides(fixture, first, second, dead));
        }
    }

    private static boolean isDetected(ClusterFixture cluster) {
        try (RedisConnection master = cluster.masters().get(0).connect()) {
            return master.text("CLUSTER", "NODES").contains("fail ");
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
        Duration window = Duration.ofHours(1);
        AtomicLong micros = new AtomicLong(1_763_638_242_000_000L);
        try (ClusterUnderFault fixture = ClusterUnderFault.on(ClusterFixture.shared(), LONG)) {
            List<String> storedKeys = fixture.storedKeys();
            Charge wide = ClusterUnderFault.charge(storedKeys.get(0), 2, Algorithm.FIXED_WINDOW, 100, window);
            Charge narrow = ClusterUnderFault.charge(storedKeys.get(1), 2, Algorithm.FIXED_WINDOW, 10, window);
            Charge wider = ClusterUnderFault.charge(storedKeys.get(2), 2, Algorithm.FIXED_WINDOW, 1_000, window);
            RedissonClient client = Redisson.create(config(fixture.cluster()));
            RedissonBackend watch = at(micros, client, fixture.namespace());
            // Three peeks and the first spend are sent. Then the client is closed.
            RedissonClient closing = Redisson.create(config(fixture.cluster()));
            RedissonBackend application = at(micros, closingAfter(4, closing), fixture.namespace());
            assertThatThrownBy(() -> application.acquire(List.of(wide, narrow, wider)))
                    .isInstanceOf(BackendException.class);
            Await.until("the client is closed", LONG, closing::isShutdown);
            assertThat(FaultCalls.spent(watch, narrow)).as("spent first").isEqualTo(2);
            assertThat(FaultCalls.spent(watch, wide)).isZero();
            assertThat(FaultCalls.spent(watch, wider)).isZero();
            micros.addAndGet(window.toNanos() / 1_000);
            assertThat(FaultCalls.spent(watch, narrow)).as("after the window").isZero();
            watch.close();
            client.shutdown();
        }
    }

    /** Returns a backend with the clock of the test. */
    private static RedissonBackend at(AtomicLong micros, RedissonClient client, String namespace) {
        return new RedissonBackend(new RedisClient(() -> client, false, namespace, LONG), namespace, LONG, micros::get);
    }

    private static Config config(ClusterFixture cluster) {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useClusterServers()
                .addNodeAddress(cluster.masters().get(0).address())
                .setRetryAttempts(0);
        return config;
    }

    /** Returns a client that sends some scripts once it is ready, and shuts down instead of sending the next one. */
    private static RedissonClient closingAfter(int scripts, RedissonClient client) {
        AtomicInteger left = new AtomicInteger(scripts);
        Consumer<String> ends = method -> {
            if (method.equals("evalShaAsync") && left.getAndDecrement() <= 0) {
                // This is a thread of the client, which would wait for its own end.
                new Thread(client::shutdown).start();
                throw new IllegalStateException("the client is closed");
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
