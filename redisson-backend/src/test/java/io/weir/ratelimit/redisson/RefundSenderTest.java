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
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
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
        return fixture.backend().refundAsync(receipt).toCompletableFuture();
    }

    @Test
    void boundsTheRefundsInFlightAndAFailedOneCanBeSentLater() throws Exception {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture =
                        TestBackend.on(process.address(), FaultCalls.DEADLINE).ready()) {
            FaultCalls.awaitDecision(fixture.backend());
            RedissonBackend slow = new RedissonBackend(fixture.client(), fixture.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(slow);
            Charge charge = TestBackend.charge("k.a", 1, LIMIT);
            List<Receipt> receipts = new ArrayList<>();
            for (int call = 0; call <= RefundSender.MAX_IN_FLIGHT; call++) {
                receipts.add(((Decision.Allowed) slow.acquire(List.of(charge))).receipt());
            }
            Receipt extra = receipts.remove(RefundSender.MAX_IN_FLIGHT);
            process.pause();
            List<CompletableFuture<Void>> sent =
                    receipts.stream().map(receipt -> refund(fixture, receipt)).toList();
            CompletableFuture<Void> dropped = refund(fixture, extra);
            assertThat(dropped).isCompletedExceptionally();
            assertThat(failure(dropped)).isEqualTo(Reason.FULL);
            assertThat(sent).allSatisfy(each -> assertThat(failure(each)).isEqualTo(Reason.TIMEOUT));
            // The client times out later, with another message.
            assertThat(sent)
                    .anySatisfy(each -> assertThat(each)
                            .failsWithin(Duration.ZERO)
                            .withThrowableOfType(ExecutionException.class)
                            .withMessageContaining("Redis did not refund within 100 ms"));
            process.resume();
            FaultCalls.awaitDecision(fixture.backend());
            Await.until("no refund is in flight", Duration.ofSeconds(20), () -> {
                CompletableFuture<Void> again = refund(fixture, extra);
                return again.handle((done, failure) -> failure == null).join();
            });
            Await.until(
                    "each receipt is refunded once", Duration.ofSeconds(20), () -> FaultCalls.spent(slow, charge) == 0);
        }
    }

    @Test
    void sendsNoRefundWhileTheBreakerIsOpen() {
        try (RedisProcess process = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(process)) {
            RedissonBackend backend = new TestConfig(
                            Map.of(RedisSettings.ADDRESS, proxy.address(), "CircuitBreaker/enabled", "true"))
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
                assertThat(failure(backend.refundAsync(one).toCompletableFuture()))
                        .isEqualTo(Reason.BREAKER_OPEN);
                for (Runnable refund : List.<Runnable>of(
                        () -> backend.refund(other),
                        () -> backend.refund(charge),
                        () -> backend.reset(charge.policy(), charge.storedKey()))) {
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
                assertThat(failure(disconnected.refundAsync(receipt).toCompletableFuture()))
                        .isEqualTo(Reason.NOT_READY);
            } finally {
                disconnected.close();
            }
        }
    }
}
