// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A server that accepts calls and does not reply. */
@Tag("fault")
class UnansweredTest {
    /** Long enough for a client with default settings to send a command more than once. */
    private static final Duration STOPPED = Duration.ofSeconds(7);

    @Test
    void aStoppedRedisCostsOneDeadlinePerCallAndChargesEachCallAtMostOnce() {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture =
                        TestBackend.on(process.address(), FaultCalls.DEADLINE).ready()) {
            assertThat(fixture.client().getConfig().useSingleServer().getRetryAttempts())
                    .as("the client retries by default")
                    .isPositive();
            FaultCalls.awaitDecision(fixture.backend());
            process.pause();
            int calls = 0;
            long end = System.nanoTime() + STOPPED.toNanos();
            while (System.nanoTime() < end) {
                assertThat(FaultCalls.failure(fixture.backend()).reason()).isEqualTo(Reason.TIMEOUT);
                assertThat(FaultCalls.asyncFailure(fixture.backend()).reason()).isEqualTo(Reason.TIMEOUT);
                calls += 2;
            }
            process.resume();
            FaultCalls.awaitDecision(fixture.backend());
            try (RedisConnection redis = process.connect()) {
                // Commands that were sent during the pause have run before this one.
                redis.call("PING");
                Charge charge = TestBackend.charge("k.fault", 1, FaultCalls.LIMIT);
                assertThat(FaultCalls.spent(fixture.backend(), charge))
                        .as("permits charged by %d calls", calls)
                        .isBetween(1L, (long) calls);
            }
        }
    }

    @Test
    void aServerThatNeverRepliesCostsOneDeadlinePerCall() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            Stopwatch watch = Stopwatch.started();
            RedissonBackend backend = new TestConfig(
                            Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:" + silent.getLocalPort()))
                    .started();
            assertThat(watch.elapsed()).isLessThan(Duration.ofSeconds(1));
            try {
                for (int call = 0; call < 20; call++) {
                    assertThat(FaultCalls.failure(backend).reason()).isEqualTo(Reason.NOT_READY);
                    assertThat(FaultCalls.asyncFailure(backend).reason()).isEqualTo(Reason.NOT_READY);
                }
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aClientOfTheApplicationThatCannotConnectDoesNotBlockCallers() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            Config config = new Config().setCodec(StringCodec.INSTANCE).setLazyInitialization(true);
            config.useSingleServer().setAddress("redis://127.0.0.1:" + silent.getLocalPort());
            RedissonClient client = Redisson.create(config);
            RedissonBackend backend = new RedissonBackend(client, "test", FaultCalls.DEADLINE);
            try {
                for (int call = 0; call < 10; call++) {
                    assertThat(FaultCalls.failure(backend).reason()).isEqualTo(Reason.NOT_READY);
                    assertThat(FaultCalls.asyncFailure(backend).reason()).isEqualTo(Reason.NOT_READY);
                }
            } finally {
                backend.close();
                client.shutdown(0, 0, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void anInterruptedCallFailsAtOnceAndTheThreadStaysInterrupted() {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture = TestBackend.on(process.address()).ready()) {
            process.pause();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> fixture.acquire("k.a", 1, FaultCalls.LIMIT))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.TIMEOUT));
            assertThat(Thread.interrupted()).isTrue();
            process.resume();
        }
    }
}
