// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
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
import org.junit.jupiter.api.Test;

/** Receipts that nobody waits for. */
class GiveBacksTest {
    private static final Limit LIMIT = Limit.of(Algorithm.TOKEN_BUCKET, 100_000, Duration.ofDays(1));

    private static Reason failure(CompletableFuture<Void> givenBack) {
        List<Reason> reasons = new ArrayList<>();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> givenBack.get(10, TimeUnit.SECONDS))
                .satisfies(e -> reasons.add(((BackendException) e.getCause()).reason()));
        return reasons.get(0);
    }

    private static CompletableFuture<Void> giveBack(TestStore store, Receipt receipt) {
        return store.backend().giveBackAsync(receipt).toCompletableFuture();
    }

    @Test
    void onlySoManyAreOnTheirWayAtOnceAndOneTooManyCanBeGivenBackLater() throws Exception {
        try (RedisProcess process = RedisProcess.started();
                TestStore store =
                        TestStore.on(process.address(), FaultCalls.DEADLINE).ready()) {
            FaultCalls.awaitDecision(store.backend());
            RedissonBackend patient = new RedissonBackend(store.client(), store.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(patient);
            Charge charge = TestStore.charge("k.a", 1, LIMIT);
            List<Receipt> receipts = new ArrayList<>();
            for (int call = 0; call <= GiveBacks.MOST_IN_THE_AIR; call++) {
                receipts.add(((Decision.Allowed) patient.acquire(List.of(charge))).receipt());
            }
            Receipt tooMany = receipts.remove(GiveBacks.MOST_IN_THE_AIR);
            process.pause();
            List<CompletableFuture<Void>> sent =
                    receipts.stream().map(receipt -> giveBack(store, receipt)).toList();
            CompletableFuture<Void> dropped = giveBack(store, tooMany);
            assertThat(dropped).isCompletedExceptionally();
            assertThat(failure(dropped)).isEqualTo(Reason.FULL);
            assertThat(sent).allSatisfy(each -> assertThat(failure(each)).isEqualTo(Reason.TIMEOUT));
            // The client itself gives up later, with other words.
            assertThat(sent)
                    .anySatisfy(each -> assertThat(each)
                            .failsWithin(Duration.ZERO)
                            .withThrowableOfType(ExecutionException.class)
                            .withMessageContaining("not given back by Redis within 100 ms"));
            process.resume();
            FaultCalls.awaitDecision(store.backend());
            Await.until("all have come down", Duration.ofSeconds(20), () -> {
                CompletableFuture<Void> again = giveBack(store, tooMany);
                return again.handle((done, failure) -> failure == null).join();
            });
            Await.until(
                    "each is given back once", Duration.ofSeconds(20), () -> FaultCalls.spent(patient, charge) == 0);
        }
    }

    @Test
    void whatIsGivenBackWhileTheBreakerIsOpenIsDroppedAndNeverSent() {
        try (RedisProcess process = RedisProcess.started();
                FaultProxy way = FaultProxy.before(process)) {
            RedissonBackend backend = new TestConfig(
                            Map.of(RedisSettings.ADDRESS, way.address(), "CircuitBreaker/enabled", "true"))
                    .started();
            try {
                FaultCalls.awaitDecision(backend);
                Charge charge = TestStore.charge("k.a", 1, LIMIT);
                Receipt one = ((Decision.Allowed) backend.acquire(List.of(charge))).receipt();
                Receipt other = ((Decision.Allowed) backend.acquire(List.of(charge))).receipt();
                way.answerScripts("LOADING Redis is loading the dataset in memory");
                Await.until("the breaker opens", Duration.ofSeconds(20), () -> {
                    FaultCalls.failure(backend);
                    return backend.status().breakerOpen();
                });
                way.open();
                long before = way.scripts();
                assertThat(failure(backend.giveBackAsync(one).toCompletableFuture()))
                        .isEqualTo(Reason.BREAKER_OPEN);
                for (Runnable giveBack : List.<Runnable>of(
                        () -> backend.giveBack(other),
                        () -> backend.giveBack(charge),
                        () -> backend.reset(charge.policy(), charge.identity()))) {
                    assertThatExceptionOfType(BackendException.class)
                            .isThrownBy(giveBack::run)
                            .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.BREAKER_OPEN));
                }
                assertThat(way.scripts()).isEqualTo(before);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aStoreThatIsNotConnectedFailsAtOnce() {
        try (TestStore store = TestStore.on(RedisFixture.shared().address()).ready()) {
            Receipt receipt = ((Decision.Allowed) store.acquire("k.a", 1, LIMIT)).receipt();
            RedissonBackend unstarted = new TestConfig(Map.of(RedisSettings.ADDRESS, "redis://127.0.0.1:1")).started();
            try {
                assertThat(failure(unstarted.giveBackAsync(receipt).toCompletableFuture()))
                        .isEqualTo(Reason.NOT_READY);
            } finally {
                unstarted.close();
            }
        }
    }
}
