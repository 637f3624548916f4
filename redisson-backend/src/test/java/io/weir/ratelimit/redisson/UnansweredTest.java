// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A Redis, or something in its place, that takes calls and does not answer. */
class UnansweredTest {
    /** Long enough for a client with its default settings to have sent a command twice and more. */
    private static final Duration STOPPED = Duration.ofSeconds(7);

    @Test
    void aStoppedRedisCostsADeadlinePerCallAndChargesEachCallAtMostOnce() {
        try (RedisProcess process = RedisProcess.started();
                TestStore store =
                        TestStore.on(process.address(), FaultCalls.DEADLINE).ready()) {
            assertThat(store.client().getConfig().useSingleServer().getRetryAttempts())
                    .as("the client retries by default")
                    .isPositive();
            FaultCalls.awaitDecision(store.backend());
            process.pause();
            int calls = 0;
            long end = System.nanoTime() + STOPPED.toNanos();
            while (System.nanoTime() < end) {
                assertThat(FaultCalls.failure(store.backend()).reason()).isEqualTo(Reason.TIMEOUT);
                assertThat(FaultCalls.asyncFailure(store.backend()).reason()).isEqualTo(Reason.TIMEOUT);
                calls += 2;
            }
            process.resume();
            FaultCalls.awaitDecision(store.backend());
            try (RedisConnection redis = process.connect()) {
                // What was sent while Redis stood still has arrived before this.
                redis.call("PING");
                Charge charge = TestStore.charge("k.fault", 1, FaultCalls.LIMIT);
                assertThat(FaultCalls.spent(store.backend(), charge))
                        .as("permits charged by %d calls", calls)
                        .isBetween(1L, (long) calls);
            }
        }
    }

    @Test
    void aServerThatNeverAnswersCostsADeadlinePerCallTheFirstIncluded() throws IOException {
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
    void anApplicationsClientThatConnectsToNothingDoesNotHoldACallerEither() throws IOException {
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
    void anInterruptedCallerIsToldAtOnceAndStaysInterrupted() {
        try (RedisProcess process = RedisProcess.started();
                TestStore store = TestStore.on(process.address()).ready()) {
            process.pause();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> store.acquire("k.a", 1, FaultCalls.LIMIT))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.TIMEOUT));
            assertThat(Thread.interrupted()).isTrue();
            process.resume();
        }
    }
}
