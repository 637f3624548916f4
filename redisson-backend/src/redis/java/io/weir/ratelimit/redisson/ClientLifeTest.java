// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.internal.InternalThreadLocalMap;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestThreads;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** The backend closes what it has created, and nothing else. */
@Tag("redis")
class ClientLifeTest {
    /** Started before threads are counted, since a Redis in Docker has threads of its own. */
    private final String redis = RedisFixture.shared().address();

    @Test
    void closingTheBackendEndsTheThreadsOfItsClient() {
        TestThreads before = TestThreads.snapshot();
        RedissonBackend backend = start(redis);
        FaultCalls.awaitDecision(backend);
        assertThat(before.newThreads()).anyMatch(name -> name.startsWith("redisson"));
        backend.close();
        before.awaitNoNewThreads();
        Assertions.assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> backend.acquire(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT))));
    }

    @Test
    void aBackendThatIsClosedAtOnceLeavesNoThread() {
        for (int attempt = 0; attempt < 10; attempt++) {
            TestThreads before = TestThreads.snapshot();
            start(redis).close();
            before.awaitNoNewThreads();
        }
    }

    @Test
    void closingABackendThatConnectsEndsItsAttempts() {
        TestThreads before = TestThreads.snapshot();
        RedissonBackend backend = start(RedisProcess.notStarted().address());
        FaultCalls.failure(backend);
        backend.close();
        before.awaitNoNewThreads();
    }

    @Test
    void doesNotCloseTheClientOfTheApplication() {
        try (TestBackend fixture = TestBackend.on(redis).ready()) {
            RedissonClient client = fixture.client();
            fixture.backend().close();
            assertThat(client.isShutdown()).isFalse();
            fixture.another().close();
        }
    }

    @Test
    void doesNotCloseTheConnectionsOfTheApplicationsClient() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect();
                TestBackend fixture = TestBackend.on(process.address()).ready()) {
            admin.call("REPLICAOF", "127.0.0.1", 1);
            Set<String> before = connections(admin);
            Assertions.assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> fixture.acquire("k.a", 1, FaultCalls.LIMIT))
                    .withMessageContaining("READONLY");
            assertThat(connections(admin)).containsAll(before);
            admin.call("REPLICAOF", "NO", "ONE");
        }
    }

    private static Set<String> connections(RedisConnection admin) {
        return Pattern.compile("(?m)^id=\\d+")
                .matcher(admin.text("CLIENT", "LIST"))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
    }

    /** A thread of a server outlives the application. Thread-local values would keep its classes in memory. */
    @Test
    void leavesNoThreadLocalValuesOnThreadsOfCallers() {
        RedisProcess away = RedisProcess.started();
        RedissonBackend backend = start(away.address());
        FaultCalls.awaitDecision(backend);
        away.kill();
        // Without a connection a call begins to connect on its thread, so this is not the first call.
        assertThat(leftBy(() -> {
                    for (int call = 0; call < 20; call++) {
                        FaultCalls.failure(backend);
                    }
                }))
                .isFalse();
        assertThat(leftBy(backend::close)).isFalse();
    }

    /** Returns whether a call leaves thread-local values of Netty on a thread. */
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
        return new TestConfig(Map.of(RedisSettings.ADDRESS, address))
                .withDeadline(FaultCalls.DEADLINE)
                .started();
    }
}
