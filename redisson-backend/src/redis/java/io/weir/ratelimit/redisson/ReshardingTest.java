// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A slot that moves to another master while its keys are charged. */
@Tag("ci")
@Tag("fault")
class ReshardingTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void aSlotThatMovesUnderLoadKeepsItsStateAndChargesNoDecisionTwice() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE)) {
            List<String> storedKeys = fixture.storedKeys();
            Charge moves = ClusterUnderFault.charge(storedKeys.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge stays = ClusterUnderFault.charge(storedKeys.get(2), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(fixture.tag(moves.storedKey()));
            try (LoadedBackend alone = new LoadedBackend(fixture.backend(), moves);
                    LoadedBackend both = new LoadedBackend(fixture.backend(), moves, stays)) {
                long began = System.nanoTime();
                beginMove(from, to, slot);
                alone.awaitDecisions();
                both.awaitDecisions();
                moveKeys(from, to, slot, 100);
                alone.awaitDecisions();
                both.awaitDecisions();
                endMove(cluster, to, slot);
                long ended = System.nanoTime();
                alone.awaitSteadyDecisions();
                both.awaitSteadyDecisions();
                alone.end(DEADLINE);
                both.end(DEADLINE);
                assertThat(fixture.spent(moves))
                        .as("%s; %s", alone, both)
                        .isBetween(
                                alone.allowed() + both.allowed(),
                                alone.allowed() + both.allowed() + alone.failures() + both.failures());
                assertThat(fixture.spent(stays))
                        .as(both.toString())
                        .isBetween(both.allowed(), both.allowed() + both.failures());
                FaultTable.add(Fault.SLOT_MOVES, began, ended, fixture.spent(moves), alone, both);
            }
            try (RedisConnection left = from.connect();
                    RedisConnection arrived = to.connect()) {
                assertThat(left.keys(fixture.tag(moves.storedKey()) + "*")).isEmpty();
                assertThat(arrived.keys(fixture.tag(moves.storedKey()) + "*")).hasSize(1);
            }
        }
    }

    @Test
    void aDecisionOverPartlyMovedKeysFailsAndSpendsNothing() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, DEADLINE)) {
            String storedKey = fixture.storedKeys().get(0);
            Charge one = ClusterUnderFault.charge(storedKey, 1, Algorithm.FIXED_WINDOW, 100, DAY);
            Charge other = ClusterUnderFault.charge(storedKey, 1, Algorithm.TOKEN_BUCKET, 100, DAY);
            List<Charge> both = List.of(one, other);
            assertThat(fixture.backend().acquire(both).allowed()).isTrue();
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(fixture.tag(storedKey));
            beginMove(from, to, slot);
            moveKeys(from, to, slot, 1);
            // The call may time out instead if the deadline passes during the last attempt.
            Await.until("the call fails with TRYAGAIN", Duration.ofSeconds(20), () -> {
                BackendException failure = catchThrowableOfType(
                        BackendException.class, () -> fixture.backend().acquire(both));
                return "Redis answered TRYAGAIN".equals(failure.getMessage());
            });
            moveKeys(from, to, slot, 100);
            endMove(cluster, to, slot);
            assertThat(fixture.spent(one)).isEqualTo(1);
            assertThat(fixture.spent(other)).isEqualTo(1);
            assertThat(fixture.backend().acquire(both).allowed()).isTrue();
        }
    }

    @Test
    void aDecisionAndARefundOverPartlyMovedKeysRunOnceWhenAllKeysHaveMoved() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterUnderFault fixture = ClusterUnderFault.on(cluster, Duration.ofSeconds(20))) {
            String storedKey = fixture.storedKeys().get(0);
            Charge one = ClusterUnderFault.charge(storedKey, 1, Algorithm.FIXED_WINDOW, 100, DAY);
            Charge other = ClusterUnderFault.charge(storedKey, 1, Algorithm.TOKEN_BUCKET, 100, DAY);
            List<Charge> both = List.of(one, other);
            Decision.Allowed first = (Decision.Allowed) fixture.backend().acquire(both);
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(fixture.tag(storedKey));
            beginMove(from, to, slot);
            moveKeys(from, to, slot, 1);
            CompletableFuture<Decision> decision =
                    fixture.backend().acquireAsync(both).toCompletableFuture();
            awaitTryAgain(3, from, to);
            CompletableFuture<Void> refunded =
                    fixture.backend().refund(first.receipt()).toCompletableFuture();
            awaitTryAgain(6, from, to);
            assertThat(decision).isNotDone();
            assertThat(refunded).isNotDone();
            moveKeys(from, to, slot, 100);
            endMove(cluster, to, slot);
            assertThat(decision.join().allowed()).isTrue();
            refunded.join();
            assertThat(fixture.spent(one)).isEqualTo(1);
            assertThat(fixture.spent(other)).isEqualTo(1);
        }
    }

    @Test
    void callersOverTheirLimitStayRejectedWhileHalfOfTheirKeysHaveMoved() {
        try (ClusterFixture cluster = ClusterFixture.started(0)) {
            String namespace = "test-" + UUID.randomUUID();
            RedissonBackend backend = new TestConfig(Map.of(
                            RedisSettings.ADDRESS,
                            cluster.address(),
                            "ratelimit.namespace",
                            namespace,
                            "CircuitBreaker/enabled",
                            "true"))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            try (ClusterUnderFault fixture = new ClusterUnderFault(cluster, namespace, backend)) {
                FaultCalls.awaitDecision(backend);
                String storedKey = fixture.storedKeys().get(0);
                Charge narrow =
                        ClusterUnderFault.charge(storedKey, 1, Algorithm.FIXED_WINDOW, 5, Duration.ofMinutes(1));
                Charge wide = ClusterUnderFault.charge(storedKey, 1, Algorithm.TOKEN_BUCKET, 100, DAY);
                Await.until(
                        "a rejection",
                        Duration.ofSeconds(30),
                        () -> !backend.acquire(List.of(narrow, wide)).allowed());
                RedisProcess from = cluster.masters().get(0);
                RedisProcess to = cluster.masters().get(1);
                long slot = cluster.slot(fixture.tag(storedKey));
                beginMove(from, to, slot);
                moveKeys(from, to, slot, 1);
                try (OpenCallers callers =
                        OpenCallers.started(backend, 4, 3_000_000, Duration.ofMinutes(1), narrow, wide)) {
                    long began = System.nanoTime();
                    Await.until(
                            "two seconds and failed calls",
                            Duration.ofSeconds(30),
                            () -> System.nanoTime() - began > 2_000_000_000L && callers.failures() > 0);
                    moveKeys(from, to, slot, 100);
                    endMove(cluster, to, slot);
                    callers.close();
                    System.out.println("exhausted key, half of its slot moved for 2 s: " + callers);
                    assertThat(callers.allowed()).isZero();
                    assertThat(callers.undecided()).isZero();
                }
            }
        }
    }

    /** Waits until scripts have failed with TRYAGAIN. The version of Redis determines which of the two masters counts them. */
    private static void awaitTryAgain(int scripts, RedisProcess... masters) {
        Await.until(
                "scripts fail with TRYAGAIN",
                Duration.ofSeconds(20),
                () -> Arrays.stream(masters)
                                .mapToInt(ReshardingTest::tryAgainErrors)
                                .sum()
                        >= scripts);
    }

    private static int tryAgainErrors(RedisProcess master) {
        try (RedisConnection connection = master.connect()) {
            Matcher count =
                    Pattern.compile("errorstat_TRYAGAIN:count=(\\d+)").matcher(connection.text("INFO", "errorstats"));
            return count.find() ? Integer.parseInt(count.group(1)) : 0;
        }
    }

    private static String id(RedisProcess node) {
        try (RedisConnection connection = node.connect()) {
            return connection.text("CLUSTER", "MYID");
        }
    }

    private static void beginMove(RedisProcess from, RedisProcess to, long slot) {
        setSlot(to, slot, "IMPORTING", id(from));
        setSlot(from, slot, "MIGRATING", id(to));
    }

    /** Ends the move, on the new master of the slot first. */
    private static void endMove(ClusterFixture cluster, RedisProcess to, long slot) {
        setSlot(to, slot, "NODE", id(to));
        for (RedisProcess node : cluster.masters()) {
            setSlot(node, slot, "NODE", id(to));
        }
    }

    private static void setSlot(RedisProcess node, long slot, String state, String id) {
        try (RedisConnection connection = node.connect()) {
            connection.call("CLUSTER", "SETSLOT", slot, state, id);
        }
    }

    private static void moveKeys(RedisProcess from, RedisProcess to, long slot, int max) {
        try (RedisConnection connection = from.connect()) {
            List<?> keys = (List<?>) connection.call("CLUSTER", "GETKEYSINSLOT", slot, max);
            assertThat(keys).isNotEmpty();
            for (Object key : keys) {
                connection.call(
                        "MIGRATE", "127.0.0.1", to.port(), new String((byte[]) key, StandardCharsets.UTF_8), 0, 5_000);
            }
        }
    }
}
