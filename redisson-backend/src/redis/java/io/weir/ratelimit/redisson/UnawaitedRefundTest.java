// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Refunds of decisions that end between their phases: the call has no receipt, so nobody else releases its slots. */
@Tag("fault")
class UnawaitedRefundTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Limit TWO = Limit.concurrency(2, Duration.ofHours(1));

    private final RedisProcess process = RedisProcess.started();
    private final FaultProxy proxy = FaultProxy.inFrontOf(process);
    private final TestBackend fixture = TestBackend.on(process.address()).ready();
    private final TestBackend clients = TestBackend.on(proxy.address()).ready();
    private final RedisClient client = new RedisClient(clients::client, false, fixture.namespace(), DEADLINE);
    private final RedisKeys keys = RedisKeys.of(fixture.namespace());
    private final ManualTimer timer = new ManualTimer();
    private final Breaker breaker =
            new Breaker(BreakerSettings.DEFAULT, Breaker.Platform.NONE, System::nanoTime, (requests, waiting) -> {});
    private final RedisStore store = new RedisStore(
            client,
            keys,
            DEADLINE,
            ScriptSender.REDIS_CLOCK,
            new RejectionCache(keys),
            (requests, waiting) -> {},
            breaker,
            timer);
    private BackendReceipt receipt;

    @BeforeEach
    void acquire() {
        Charge charge = TestBackend.charge("k.a", 1, FaultCalls.LIMIT, TWO);
        receipt = (BackendReceipt) store.acquire(List.of(charge)).receipt();
    }

    @AfterEach
    void disconnect() {
        store.close();
        clients.close();
        fixture.close();
        proxy.close();
        process.close();
    }

    private void refund() {
        new StoreSteps(store, new RequestFactory(keys, new RejectionCache(keys), late -> {}), 0).refund(receipt);
    }

    private long free() {
        return fixture.remaining("k.a", TWO);
    }

    @Test
    void aRefundReleasesTheSlot() {
        refund();
        Await.until("the slot is free", DEADLINE, () -> free() == 2);
        assertThat(timer.waiting()).as("no more releases are due").isZero();
    }

    @Test
    void aSlotIsReleasedOnceTheBreakerHasClosed() {
        Await.until("the breaker opens", DEADLINE, () -> {
            breaker.record(new BackendException(Reason.TIMEOUT, "timed out", null));
            return breaker.isOpen();
        });
        refund();
        assertThat(free()).isEqualTo(1);
        Await.until("the slot is free", DEADLINE, () -> {
            timer.run();
            return free() == 2;
        });
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void aSlotIsReleasedOnceRedisAnswersAgain() {
        proxy.failScripts("BUSY Redis is busy running a script.");
        refund();
        Await.until("a release is due", DEADLINE, () -> timer.waiting() > 0);
        assertThat(free()).isEqualTo(1);
        proxy.forward();
        Await.until("the slot is free", DEADLINE, () -> {
            timer.run();
            return free() == 2;
        });
    }
}
