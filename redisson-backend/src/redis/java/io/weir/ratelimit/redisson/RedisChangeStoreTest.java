// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.ChangeStoreContract;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The runtime changes on a real Redis. */
@Tag("redis")
class RedisChangeStoreTest {
    private final TestBackend backend = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();
    private ChangeStore store;

    @BeforeEach
    void connect() {
        store = backend.ready().backend().capability(ChangeStore.class).orElseThrow();
    }

    @AfterEach
    void disconnect() {
        redis.drop("weir:1:changes:{" + backend.namespace() + "}:*");
        redis.close();
        backend.close();
    }

    private static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private String key(String part) {
        return "weir:1:changes:{" + backend.namespace() + "}:" + part;
    }

    @Test
    void isEmptyAtFirst() {
        ChangeStoreContract.isEmpty(store);
    }

    @Test
    void keepsTheLastState() {
        ChangeStoreContract.keepsTheLastState(store);
    }

    @Test
    void rejectsAnotherTag() {
        ChangeStoreContract.rejectsAnotherTag(store);
    }

    @Test
    void boundsTheLog() {
        ChangeStoreContract.boundsTheLog(store);
        assertThat(redis.number("DBSIZE")).isPositive();
        assertThat(redis.text("GET", key("log:0"))).isEqualTo("e1000");
        assertThat(redis.number("EXISTS", key("log:1000"))).isZero();
    }

    @Test
    void oneOfSeveralWritersSucceeds() throws InterruptedException {
        try (TestBackend other = backend.anotherClient()) {
            ChangeStore second = other.backend().capability(ChangeStore.class).orElseThrow();
            ChangeStoreContract.oneOfSeveralWritersSucceeds(List.of(store, second, store, second));
        }
    }

    @Test
    void storesTheLargestState() {
        String large = "1-1\n" + "x".repeat(ChangeStore.MAX_STATE_BYTES - 4);
        assertThat(join(store.replace("", bytes(large), bytes("e")))).isTrue();
        assertThat(join(store.read("")).state().orElseThrow()).isEqualTo(bytes(large));
        assertThatThrownBy(() -> store.replace("1-1", bytes(large + "x"), bytes("e")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.replace("1-1", bytes("no tag\n"), bytes("e")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void returnsTheTimeOfRedis() {
        Instant now = Instant.now();
        assertThat(join(store.read("")).time()).isBetween(now.minusSeconds(60), now.plusSeconds(60));
    }

    @Test
    void theNextChangeReplacesAForeignValue() {
        for (String[] foreign : new String[][] {
            {"LPUSH", key("state"), "x"},
            {"SET", key("state"), "no state"},
            {"SET", key("state"), "1-1"},
            {"SET", key("state"), "0-1\nx"},
            {"SET", key("state"), "01-1\nx"},
            {"SET", key("state"), "1000000000000000-1\nx"},
            {"SET", key("state"), "1-1000000000000000\nx"},
            {"SET", key("state"), ""},
            {"SET", key("state"), "1-1\n" + "x".repeat(ChangeStore.MAX_STATE_BYTES)}
        }) {
            redis.call("DEL", key("state"));
            redis.call((Object[]) foreign);
            ChangeStore.Stored stored = join(store.read("1-1"));
            assertThat(stored.foreign()).isTrue();
            assertThat(stored.tag()).isEmpty();
            assertThat(stored.state()).isEmpty();
            assertThat(join(store.log(5))).isEmpty();
            assertThat(join(store.replace("1-1", bytes("2-2\nx"), bytes("e")))).isFalse();
            assertThat(join(store.replace("", bytes("1-1\nx"), bytes("e")))).isTrue();
            assertThat(join(store.read("")).tag()).isEqualTo("1-1");
        }
    }

    @Test
    void foreignEntriesAreLeftOut() {
        assertThat(join(store.replace("", bytes("1-1\nx"), bytes("e1")))).isTrue();
        redis.call("DEL", key("log:1"));
        redis.call("LPUSH", key("log:1"), "x");
        assertThat(join(store.log(5))).isEmpty();
        assertThat(join(store.replace("1-1", bytes("2-1\nx"), bytes("e2")))).isTrue();
        assertThat(join(store.log(5))).containsExactly(bytes("e2"));
    }

    @Test
    void survivesALossOfScripts() {
        assertThat(join(store.replace("", bytes("1-1\nx"), bytes("e1")))).isTrue();
        redis.call("SCRIPT", "FLUSH");
        assertThat(join(store.replace("1-1", bytes("2-1\ny"), bytes("e2")))).isTrue();
        redis.call("SCRIPT", "FLUSH");
        assertThat(join(store.read("1-1")).state().orElseThrow()).isEqualTo(bytes("2-1\ny"));
    }
}
