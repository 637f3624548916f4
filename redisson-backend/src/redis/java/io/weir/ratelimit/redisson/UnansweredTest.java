// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisSettings;
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
import org.redisson.config.ConstantDelay;

/** A server that accepts calls and does not reply. */
@Tag("fault")
class UnansweredTest {
    /** Long enough for a client that retries at once to send a command more than once, one second after its deadline. */
    private static final Duration STOPPED = Duration.ofMillis(2_500);

    @Test
    void aStoppedRedisCostsOneDeadlinePerCallAndChargesEachCallAtMostOnce() {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        try (RedisProcess process = RedisProcess.started()) {
            config.useSingleServer()
                    .setAddress(process.address())
                    .setRetryAttempts(4)
                    .setRetryDelay(new ConstantDelay(Duration.ofMillis(1)));
            RedissonClient client = Redisson.create(config);
            RedissonBackend backend = new RedissonBackend(
                    new RedisClient(() -> client, true, "test", FaultCalls.DEADLINE),
                    "test",
                    FaultCalls.DEADLINE,
                    ScriptSender.REDIS_CLOCK);
            FaultCalls.awaitDecision(backend);
            process.pause();
            int calls = 0;
            long end = System.nanoTime() + STOPPED.toNanos();
            while (System.nanoTime() < end) {
                assertThat(FaultCalls.failure(backend).reason()).isEqualTo(Reason.TIMEOUT);
                assertThat(FaultCalls.asyncFailure(backend).reason()).isEqualTo(Reason.TIMEOUT);
                calls += 2;
            }
            process.resume();
            FaultCalls.awaitDecision(backend);
            try (RedisConnection redis = process.connect()) {
                // Commands that were sent during the pause have run before this one.
                redis.call("PING");
                Charge charge = TestBackend.charge("k.fault", 1, FaultCalls.LIMIT);
                assertThat(FaultCalls.spent(backend, charge))
                        .as("permits charged by %d calls", calls)
                        .isBetween(1L, (long) calls);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aServerThatNeverRepliesCostsOneDeadlinePerCall() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            Stopwatch watch = Stopwatch.started();
            RedissonBackend backend = new TestConfig(
                            Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:" + silent.getLocalPort()))
                    .withDeadline(FaultCalls.DEADLINE)
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
