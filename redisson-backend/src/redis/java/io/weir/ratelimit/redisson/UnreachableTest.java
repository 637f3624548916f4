// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.Stopwatch;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Redis that is not available, or rejects the client. */
@Tag("fault")
class UnreachableTest {

    @ParameterizedTest(name = "own client: {0}")
    @ValueSource(booleans = {true, false})
    void callsFailOnAKilledRedisAndAreDecidedAfterItsRestart(boolean ownClient) {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture = TestBackend.on(process.address(), FaultCalls.DEADLINE)) {
            RedissonBackend backend = ownClient
                    ? new TestConfig(Map.of(RedisSettings.ADDRESS, process.address()))
                            .withDeadline(FaultCalls.DEADLINE)
                            .started()
                    : fixture.backend();
            try {
                FaultCalls.awaitDecision(backend);
                for (int outage = 0; outage < 2; outage++) {
                    process.kill();
                    // A call on a connection that the client considers open times out.
                    Await.until(
                            "each call fails without a connection",
                            Duration.ofSeconds(30),
                            () -> IntStream.range(0, 5).allMatch(call -> failsToConnect(backend)));
                    process.start();
                    FaultCalls.awaitDecision(backend);
                }
            } finally {
                // The fixture closes its own backend.
                if (ownClient) {
                    backend.close();
                }
            }
        }
    }

    @Test
    void startsWithoutRedisAndDecidesOnceItIsAvailable() {
        try (RedisProcess process = RedisProcess.notStarted()) {
            Stopwatch watch = Stopwatch.started();
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, process.address()))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            assertThat(watch.elapsed()).isLessThan(Duration.ofSeconds(1));
            try {
                for (int call = 0; call < 20; call++) {
                    assertThat(FaultCalls.failure(backend).reason()).isEqualTo(Reason.NOT_READY);
                    assertThat(FaultCalls.asyncFailure(backend).reason()).isEqualTo(Reason.NOT_READY);
                }
                process.start();
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "some-wr0ng-secret"})
    void reportsAWrongPasswordAsTheReason(String password) {
        try (RedisProcess process = RedisProcess.started("--requirepass", "the-r1ght-secret")) {
            String address = password.isEmpty() ? process.address() : process.address(password);
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, address))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            try {
                BackendException rejection = FaultCalls.awaitFailure(backend, Reason.BACKEND_ERROR);
                assertThat(rejection)
                        .hasMessage("Redis at redis://127.0.0.1:" + process.port() + " answered "
                                + (password.isEmpty()
                                        ? "NOAUTH, a password is required"
                                        : "WRONGPASS, the user or the password is wrong"));
                for (Throwable cause = rejection; cause != null; cause = cause.getCause()) {
                    assertThat(cause.toString()).doesNotContain("secret");
                }
                assertThat(FaultCalls.asyncFailure(backend).reason()).isEqualTo(Reason.BACKEND_ERROR);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void acceptsAPasswordWithSpecialCharacters() {
        try (RedisProcess process = RedisProcess.started("--requirepass", "p@ss:w/rd+1%")) {
            RedissonBackend backend =
                    new TestConfig(Map.of(RedisSettings.ADDRESS, process.address("p%40ss%3Aw%2Frd+1%25"))).started();
            try {
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }

    private static boolean failsToConnect(RedissonBackend backend) {
        return FaultCalls.failure(backend).reason() == Reason.CONNECTION
                && FaultCalls.asyncFailure(backend).reason() == Reason.CONNECTION;
    }

    @Test
    void reportsAMissingClassOfAProducerWithoutARetry() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();
        try (RedisClient client = new RedisClient(
                () -> {
                    calls.incrementAndGet();
                    throw new IllegalStateException(new NoClassDefFoundError("com/esotericsoftware/kryo/util/Pool"));
                },
                false,
                "default",
                Duration.ofMillis(100))) {
            client.awaitFirstAttempt(System.nanoTime() + Duration.ofSeconds(20).toNanos());
            assertThat(client.run(Script.ACQUIRE, List.of("weir:2:{default:all}:api"), new byte[0], System.nanoTime()))
                    .failsWithin(Duration.ZERO)
                    .withThrowableOfType(ExecutionException.class)
                    .withMessageContaining("cannot run")
                    .withMessageContaining("kryo/util/Pool");
        }
        assertThat(calls).hasValue(1);
    }
}
