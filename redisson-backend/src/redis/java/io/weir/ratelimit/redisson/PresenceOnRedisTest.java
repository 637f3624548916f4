// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The presence of instances on a real Redis. */
@Tag("redis")
class PresenceOnRedisTest {
    private final TestBackend backend = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
    private final String key = "weir:2:{" + backend.namespace() + ":instances}:+present";
    private FleetStore.Presence store;

    @BeforeEach
    void connect() {
        store = backend.ready().backend().capability(FleetStore.Presence.class).orElseThrow();
    }

    @AfterEach
    void disconnect() {
        redis.close();
        backend.close();
    }

    private int present(String instance) {
        return store.present(instance).toCompletableFuture().join();
    }

    private static BackendException failure(FleetStore.Presence store) {
        Throwable failure = store.present("a1")
                .handle((number, thrown) -> thrown)
                .toCompletableFuture()
                .join();
        return (BackendException) (failure instanceof CompletionException ? failure.getCause() : failure);
    }

    private String list() {
        return redis.text("GET", key);
    }

    /** Lets an instance have recorded its presence at another time. */
    private void moveLine(String instance, long millis) {
        String moved = list().lines()
                .map(line -> line.split(" "))
                .map(line -> line[0] + " " + (Long.parseLong(line[1]) + (line[0].equals(instance) ? millis : 0)) + "\n")
                .collect(Collectors.joining());
        redis.call("SET", key, moved, "PX", "30000");
    }

    @Test
    void instancesWithTheirOwnClientsSeeEachOther() {
        try (TestBackend other = backend.anotherClient()) {
            FleetStore.Presence second =
                    other.backend().capability(FleetStore.Presence.class).orElseThrow();
            assertThat(present("a1")).isEqualTo(1);
            assertThat(second.present("b2").toCompletableFuture().join()).isEqualTo(2);
            assertThat(present("a1")).isEqualTo(2);
            assertThat(second.present("c3").toCompletableFuture().join()).isEqualTo(3);
            assertThat(present("a1")).isEqualTo(3);
        }
    }

    @Test
    void anInstanceCountsForThirtySeconds() {
        present("a1");
        present("b2");
        moveLine("a1", -20_000);
        assertThat(present("b2")).isEqualTo(2);
        moveLine("a1", -10_000);
        assertThat(present("b2")).isEqualTo(1);
        assertThat(list()).startsWith("b2 ").doesNotContain("a1");
        assertThat(present("a1")).as("it is back").isEqualTo(2);
    }

    @Test
    void theOnlyKeyHasATimeToLive() {
        present("a1");
        assertThat(redis.number("PTTL", key)).isBetween(1L, 30_000L);
        assertThat(redis.keys("weir:*{" + backend.namespace() + "*present")).containsExactly(key);
        assertThat(redis.keys("weir:1:*{" + backend.namespace() + "*")).isEmpty();
    }

    @Test
    void aValueOfAnotherTypeIsAnErrorAndRemains() {
        redis.call("LPUSH", key, "foreign");
        BackendException failure = failure(store);
        assertThat(failure.reason()).isEqualTo(Reason.BACKEND_ERROR);
        assertThat(failure).hasMessage("the key " + key + " has a value of another type");
        assertThat(redis.text("TYPE", key)).isEqualTo("list");
    }

    @Test
    void linesOfAnotherFormDoNotCount() {
        present("a1");
        redis.call("SET", key, "A1 1\n\nb2\nb2 99999999999999999999999\n" + "x".repeat(40) + " 1\n../x 5\n" + list());
        assertThat(present("a1")).isEqualTo(1);
        assertThat(list()).matches("a1 [0-9]{13}\n");
    }

    @Test
    void atMostAThousandInstancesAreCounted() {
        present("a1");
        String now = list().split("[ \n]")[1];
        redis.call(
                "SET",
                key,
                IntStream.range(0, 1_500)
                        .mapToObj(i -> "n" + i + " " + now + "\n")
                        .collect(Collectors.joining()));
        assertThat(present("a1")).isEqualTo(FleetStore.Presence.MAX_INSTANCES);
        assertThat(list().lines()).hasSize(FleetStore.Presence.MAX_INSTANCES);
    }

    @Test
    void aNameOfAnotherFormIsRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> present("a 1"));
        assertThatIllegalArgumentException().isThrownBy(() -> present("a".repeat(33)));
    }

    @Test
    void aBackendThatIsNotStartedIsNotReady() {
        RedissonBackend unconnected = new RedissonBackend(name -> Optional.empty());
        FleetStore.Presence presence =
                unconnected.capability(FleetStore.Presence.class).orElseThrow();
        assertThat(failure(presence).reason()).isEqualTo(Reason.NOT_READY);
    }
}
