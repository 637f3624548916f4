// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.tck.TestedBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Refunds that no caller awaits. */
@Tag("redis")
class RefundSenderTest {
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 100_000, Duration.ofDays(1));

    private static Reason failure(CompletableFuture<Void> refunded) {
        List<Reason> reasons = new ArrayList<>();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> refunded.get(10, TimeUnit.SECONDS))
                .satisfies(e -> reasons.add(((BackendException) e.getCause()).reason()));
        return reasons.get(0);
    }

    private static CompletableFuture<Void> refund(TestBackend fixture, Receipt receipt) {
        return fixture.backend().refund(receipt).toCompletableFuture();
    }

    private static List<Receipt> receipts(RedissonBackend backend, Charge charge, int count) {
        return Stream.generate(() -> ((Decision.Allowed) backend.acquire(List.of(charge))).receipt())
                .limit(count)
                .toList();
    }

    @Test
    void boundsTheRefundsInFlight() {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture = TestBackend.on(process.address()).ready()) {
            Charge charge = TestBackend.charge("k.a", 1, LIMIT);
            List<Receipt> receipts = receipts(fixture.backend(), charge, RefundSender.MAX_IN_FLIGHT);
            Receipt extra = receipts(fixture.backend(), charge, 1).get(0);
            process.pause();
            List<CompletableFuture<Void>> sent =
                    receipts.stream().map(receipt -> refund(fixture, receipt)).toList();
            CompletableFuture<Void> dropped = refund(fixture, extra);
            assertThat(dropped).isCompletedExceptionally();
            assertThat(failure(dropped)).isEqualTo(Reason.FULL);
            process.resume();
            assertThat(sent).allSatisfy(each -> assertThat(each).succeedsWithin(Duration.ofSeconds(20)));
            assertThat(refund(fixture, extra)).succeedsWithin(Duration.ofSeconds(20));
            assertThat(FaultCalls.spent(fixture.backend(), charge)).isZero();
        }
    }

    @Test
    void refundsThatTimeOutAreNotInFlight() {
        try (RedisProcess process = RedisProcess.started();
                TestBackend slow = TestBackend.on(process.address()).ready()) {
            Charge charge = TestBackend.charge("k.a", 1, LIMIT);
            List<Receipt> receipts = receipts(slow.backend(), charge, RefundSender.MAX_IN_FLIGHT);
            Receipt extra = receipts(slow.backend(), charge, 1).get(0);
            RedissonBackend backend = new RedissonBackend(slow.client(), slow.namespace(), FaultCalls.DEADLINE);
            try {
                FaultCalls.awaitDecision(backend);
                process.pause();
                List<CompletableFuture<Void>> sent = receipts.stream()
                        .map(receipt -> backend.refund(receipt).toCompletableFuture())
                        .toList();
                assertThat(sent).allSatisfy(each -> assertThat(failure(each)).isEqualTo(Reason.TIMEOUT));
                // The client times out later, with another message.
                assertThat(sent)
                        .anySatisfy(each -> assertThat(each)
                                .failsWithin(Duration.ZERO)
                                .withThrowableOfType(ExecutionException.class)
                                .withMessageContaining("Redis did not reply within 100 ms"));
                process.resume();
                Await.until(
                        "the refund is sent",
                        Duration.ofSeconds(20),
                        () -> backend.refund(extra)
                                .toCompletableFuture()
                                .handle((done, failure) -> failure == null)
                                .join());
                Await.until(
                        "each receipt is refunded once",
                        Duration.ofSeconds(20),
                        () -> FaultCalls.spent(slow.backend(), charge) == 0);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void sendsNoRefundWhileTheBreakerIsOpen() {
        try (RedisProcess process = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(process)) {
            RedissonBackend backend = new TestConfig(Map.of(
                            RedisSettings.ADDRESS,
                            proxy.address(),
                            "CircuitBreaker/enabled",
                            "true",
                            "CircuitBreaker/delay",
                            "3600000"))
                    .started();
            try {
                FaultCalls.awaitDecision(backend);
                Charge charge = TestBackend.charge("k.a", 1, LIMIT);
                Receipt one = ((Decision.Allowed) backend.acquire(List.of(charge))).receipt();
                Receipt other = ((Decision.Allowed) backend.acquire(List.of(charge))).receipt();
                proxy.failScripts("LOADING Redis is loading the dataset in memory");
                Await.until("the breaker opens", Duration.ofSeconds(20), () -> {
                    FaultCalls.failure(backend);
                    return backend.status().breakerOpen();
                });
                proxy.forward();
                long before = proxy.scripts();
                assertThat(failure(backend.refund(one).toCompletableFuture())).isEqualTo(Reason.BREAKER_OPEN);
                for (Runnable refund : List.<Runnable>of(
                        () -> new TestedBackend(backend).refund(other),
                        () -> new TestedBackend(backend).refund(charge),
                        () -> backend.reset(List.of(charge.policy()), charge.storedKey()))) {
                    assertThatExceptionOfType(BackendException.class)
                            .isThrownBy(refund::run)
                            .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.BREAKER_OPEN));
                }
                assertThat(proxy.scripts()).isEqualTo(before);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void failsAtOnceWithoutAConnection() {
        try (TestBackend fixture =
                TestBackend.on(RedisFixture.shared().address()).ready()) {
            Receipt receipt = ((Decision.Allowed) fixture.acquire("k.a", 1, LIMIT)).receipt();
            RedissonBackend disconnected =
                    new TestConfig(Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:1")).started();
            try {
                assertThat(failure(disconnected.refund(receipt).toCompletableFuture()))
                        .isEqualTo(Reason.NOT_READY);
            } finally {
                disconnected.close();
            }
        }
    }
}
