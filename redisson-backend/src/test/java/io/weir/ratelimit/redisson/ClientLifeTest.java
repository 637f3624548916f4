// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.internal.InternalThreadLocalMap;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** A store ends what it started, and nothing else. */
class ClientLifeTest {
    /** Found before threads are counted: a Redis in Docker brings some of its own. */
    private final String redis = RedisFixture.shared().address();

    @Test
    void anOwnClientsThreadsEndWithTheStore() {
        TestThreads before = TestThreads.now();
        RedissonBackend backend = start(redis);
        FaultCalls.awaitDecision(backend);
        assertThat(before.others()).anyMatch(name -> name.startsWith("redisson"));
        backend.close();
        before.awaitEndOfOthers();
        Assertions.assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> backend.acquire(List.of(TestStore.charge("k.a", 1, FaultCalls.LIMIT))));
    }

    @Test
    void aStoreThatIsClosedAtOnceLeavesNoThreadEither() {
        for (int attempt = 0; attempt < 10; attempt++) {
            TestThreads before = TestThreads.now();
            start(redis).close();
            before.awaitEndOfOthers();
        }
    }

    @Test
    void aStoreThatIsStillConnectingEndsItsAttempts() {
        TestThreads before = TestThreads.now();
        RedissonBackend backend = start(RedisProcess.absent().address());
        FaultCalls.failure(backend);
        backend.close();
        before.awaitEndOfOthers();
    }

    @Test
    void anApplicationsClientIsLeftAlone() {
        try (TestStore store = TestStore.on(redis).ready()) {
            RedissonClient client = store.client();
            store.backend().close();
            assertThat(client.isShutdown()).isFalse();
            RedissonBackend another = new RedissonBackend(client, store.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(another);
        }
    }

    /** A server's thread outlives the application, whose classes what is left on the thread would keep. */
    @Test
    void theThreadsOfCallersKeepNothingOfTheClients() {
        RedisProcess away = RedisProcess.started();
        RedissonBackend backend = start(away.address());
        FaultCalls.awaitDecision(backend);
        away.kill();
        // Not the first of them: where there is no connection any more, a call begins with making one.
        assertThat(leftBy(() -> {
                    for (int call = 0; call < 20; call++) {
                        FaultCalls.failure(backend);
                    }
                }))
                .isFalse();
        assertThat(leftBy(backend::close)).isFalse();
    }

    /** Whether something leaves thread-local values of Netty's on a thread that had none. */
    private static boolean leftBy(Runnable call) {
        CompletableFuture<Boolean> left = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            call.run();
            left.complete(InternalThreadLocalMap.getIfSet() != null);
        });
        thread.start();
        return left.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static RedissonBackend start(String address) {
        return new TestConfig(Map.of(RedisSettings.ADDRESS, address)).started();
    }
}
