// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Behavior of the backend that is specific to a cluster. */
@Tag("redis")
class ClusterTest {
    private static final Limit DAY = FaultCalls.LIMIT;
    private static final Limit HOUR = Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofHours(1));
    private static final Limit WEEK = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofDays(7));

    private static final Duration LONG = Duration.ofSeconds(60);

    private final String namespace = "test-" + UUID.randomUUID();

    @Test
    void allKeysOfAStoredKeyAreInOneSlot() {
        ClusterFixture cluster = ClusterFixture.shared();
        RedissonBackend backend = started(cluster);
        try {
            FaultCalls.awaitDecision(backend);
            Set<Long> slots = new HashSet<>();
            for (String storedKey : List.of("k.a", "k.b", "p.203.0.113.7", "anon", "h.x-key.é", "k.%7b%7d")) {
                assertThat(backend.acquire(List.of(
                                        charge("api", storedKey, HOUR, DAY, WEEK), charge("login", storedKey, HOUR)))
                                .allowed())
                        .isTrue();
                Set<String> keys = keys(cluster, storedKey);
                assertThat(keys).hasSize(2);
                Set<Long> slotsOfStoredKey = keys.stream().map(cluster::slot).collect(Collectors.toSet());
                assertThat(slotsOfStoredKey).as(keys.toString()).hasSize(1);
                slots.addAll(slotsOfStoredKey);
            }
            assertThat(slots).as("keys are spread over slots").hasSizeGreaterThan(1);
        } finally {
            backend.close();
        }
    }

    private Set<String> keys(ClusterFixture cluster, String storedKey) {
        Set<String> keys = new TreeSet<>();
        for (RedisProcess master : cluster.masters()) {
            try (RedisConnection connection = master.connect()) {
                keys.addAll(connection.keys(key(storedKey) + ":*"));
            }
        }
        return keys;
    }

    @Test
    void callsOnlyMastersEvenForPeeks() {
        try (ClusterFixture cluster = ClusterFixture.started(1);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, LONG)) {
            for (int i = 0; i < 20; i++) {
                fixture.backend().acquire(List.of(charge("api", "k." + i, DAY)));
                fixture.backend().peek(List.of(charge("api", "k." + i, DAY)));
            }
            assertThat(cluster.masters().stream().mapToLong(ClusterTest::scripts))
                    .allMatch(calls -> calls > 0);
            assertThat(cluster.replicas().stream().mapToLong(ClusterTest::scripts))
                    .containsOnly(0L);
        }
    }

    private static long scripts(RedisProcess node) {
        try (RedisConnection connection = node.connect()) {
            return connection.calls("evalsha") + connection.calls("eval") + connection.calls("evalsha_ro");
        }
    }

    @Test
    @Tag("ci")
    void startsWithoutTheClusterAndDecidesForTheSlotsThatHaveAMaster() {
        try (ClusterFixture cluster = ClusterFixture.started(0, "--cluster-require-full-coverage", "no")) {
            // The backend is ready once it has peeked at this key.
            RedisProcess peeked = cluster.masterOf(key("none"));
            RedisProcess missing = cluster.masters().stream()
                    .filter(node -> node != peeked)
                    .findFirst()
                    .orElseThrow();
            String first = storedKey(node -> node == peeked, cluster);
            String there = storedKey(node -> node != missing && node != peeked, cluster);
            String gone = storedKey(node -> node == missing, cluster);
            cluster.masters().forEach(RedisProcess::kill);
            List<RedisProcess> back =
                    cluster.masters().stream().filter(node -> node != missing).toList();
            RedissonBackend early = started(cluster);
            try {
                for (int call = 0; call < 5; call++) {
                    assertThat(FaultCalls.failure(early).reason()).isEqualTo(Reason.NOT_READY);
                }
                back.forEach(RedisProcess::start);
                Await.until(
                        "the backend that started on a part of the cluster decides without a restart",
                        LONG,
                        () -> decides(early, first));
                Await.until("it decides on all available masters", LONG, () -> decides(early, there));
            } finally {
                early.close();
            }
            RedissonBackend backend = started(cluster);
            try {
                Await.until("keys that have a master are decided", LONG, () -> decides(backend, there));
                assertThat(decides(backend, gone)).isFalse();
                missing.start();
                Await.until("the others are decided too", LONG, () -> decides(backend, gone));
            } finally {
                backend.close();
            }
        }
    }

    private boolean decides(RedissonBackend backend, String storedKey) {
        try {
            return backend.acquire(List.of(charge("api", storedKey, DAY))).allowed();
        } catch (BackendException e) {
            return false;
        }
    }

    private String storedKey(Predicate<RedisProcess> master, ClusterFixture cluster) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "k." + i)
                .filter(storedKey -> master.test(cluster.masterOf(key(storedKey))))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the prefix of all keys of a stored key, which determines the slot. */
    private String key(String storedKey) {
        return "weir:2:{" + namespace + ":" + storedKey + "}";
    }

    private RedissonBackend started(ClusterFixture cluster) {
        return new TestConfig(Map.of(RedisSettings.ADDRESS, cluster.address(), "ratelimit.namespace", namespace))
                .started();
    }

    private static Charge charge(String policy, String storedKey, Limit... limits) {
        return new Charge(new PolicyLimits(policy, List.of(limits)), storedKey, 1);
    }
}
