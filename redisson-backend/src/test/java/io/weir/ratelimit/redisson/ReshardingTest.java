// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** A slot that moves to another master while its keys are charged. */
class ReshardingTest {
    private static final Duration DAY = Duration.ofDays(30);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    @Test
    void aSlotThatMovesUnderLoadKeepsItsStateAndNoDecisionIsChargedTwice() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterStore store = ClusterStore.on(cluster, DEADLINE)) {
            List<String> identities = store.identities();
            Charge moves = ClusterStore.charge(identities.get(0), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            Charge stays = ClusterStore.charge(identities.get(2), 1, Algorithm.FIXED_WINDOW, 10_000_000, DAY);
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(store.tag(moves.identity()));
            try (LoadedStore alone = new LoadedStore(store.backend(), moves);
                    LoadedStore both = new LoadedStore(store.backend(), moves, stays)) {
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
                assertThat(store.spent(moves))
                        .as("%s; %s", alone, both)
                        .isBetween(
                                alone.admitted() + both.admitted(),
                                alone.admitted() + both.admitted() + alone.failures() + both.failures());
                assertThat(store.spent(stays))
                        .as(both.toString())
                        .isBetween(both.admitted(), both.admitted() + both.failures());
                FaultTable.add(Fault.SLOT_MOVES, began, ended, store.spent(moves), alone, both);
            }
            try (RedisConnection left = from.connect();
                    RedisConnection arrived = to.connect()) {
                assertThat(left.keys(store.tag(moves.identity()) + "*")).isEmpty();
                assertThat(arrived.keys(store.tag(moves.identity()) + "*")).hasSize(1);
            }
        }
    }

    @Test
    void aDecisionOverKeysOfWhichSomeHaveMovedFailsAndChargesNoneUntilTheOthersHaveMovedToo() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterStore store = ClusterStore.on(cluster, DEADLINE)) {
            String identity = store.identities().get(0);
            Charge one = ClusterStore.charge(identity, 1, Algorithm.FIXED_WINDOW, 100, DAY);
            Charge other = ClusterStore.charge(identity, 1, Algorithm.TOKEN_BUCKET, 100, DAY);
            List<Charge> both = List.of(one, other);
            assertThat(store.backend().acquire(both).allowed()).isTrue();
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(store.tag(identity));
            beginMove(from, to, slot);
            moveKeys(from, to, slot, 1);
            // Or that it was too late, where the deadline comes while the last try is on its way.
            Await.until("it is told to try again", Duration.ofSeconds(20), () -> {
                BackendException failure = catchThrowableOfType(
                        BackendException.class, () -> store.backend().acquire(both));
                return "Redis answered TRYAGAIN".equals(failure.getMessage());
            });
            moveKeys(from, to, slot, 100);
            endMove(cluster, to, slot);
            assertThat(store.spent(one)).isEqualTo(1);
            assertThat(store.spent(other)).isEqualTo(1);
            assertThat(store.backend().acquire(both).allowed()).isTrue();
        }
    }

    @Test
    void aDecisionAndAGiveBackOverKeysOfWhichSomeHaveMovedAreDoneOnceWhenTheOthersHaveMovedToo() {
        try (ClusterFixture cluster = ClusterFixture.started(0);
                ClusterStore store = ClusterStore.on(cluster, Duration.ofSeconds(20))) {
            String identity = store.identities().get(0);
            Charge one = ClusterStore.charge(identity, 1, Algorithm.FIXED_WINDOW, 100, DAY);
            Charge other = ClusterStore.charge(identity, 1, Algorithm.TOKEN_BUCKET, 100, DAY);
            List<Charge> both = List.of(one, other);
            Decision.Allowed first = (Decision.Allowed) store.backend().acquire(both);
            RedisProcess from = cluster.masters().get(0);
            RedisProcess to = cluster.masters().get(1);
            long slot = cluster.slot(store.tag(identity));
            beginMove(from, to, slot);
            moveKeys(from, to, slot, 1);
            CompletableFuture<Decision> decision =
                    store.backend().acquireAsync(both).toCompletableFuture();
            awaitRefused(3, from, to);
            CompletableFuture<Void> givenBack =
                    store.backend().giveBackAsync(first.receipt()).toCompletableFuture();
            awaitRefused(6, from, to);
            assertThat(decision).isNotDone();
            assertThat(givenBack).isNotDone();
            moveKeys(from, to, slot, 100);
            endMove(cluster, to, slot);
            assertThat(decision.join().allowed()).isTrue();
            givenBack.join();
            assertThat(store.spent(one)).isEqualTo(1);
            assertThat(store.spent(other)).isEqualTo(1);
        }
    }

    /** Until so many scripts met keys of which some had moved; which of the two masters says so depends on the version. */
    private static void awaitRefused(int scripts, RedisProcess... masters) {
        Await.until(
                "scripts are told to try again",
                Duration.ofSeconds(20),
                () -> Arrays.stream(masters)
                                .mapToInt(ReshardingTest::toldToTryAgain)
                                .sum()
                        >= scripts);
    }

    private static int toldToTryAgain(RedisProcess master) {
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

    /** Who gets the slot hears of it first. */
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

    private static void moveKeys(RedisProcess from, RedisProcess to, long slot, int most) {
        try (RedisConnection connection = from.connect()) {
            List<?> keys = (List<?>) connection.call("CLUSTER", "GETKEYSINSLOT", slot, most);
            assertThat(keys).isNotEmpty();
            for (Object key : keys) {
                connection.call(
                        "MIGRATE", "127.0.0.1", to.port(), new String((byte[]) key, StandardCharsets.UTF_8), 0, 5_000);
            }
        }
    }
}
