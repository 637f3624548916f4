// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import static io.weir.ratelimit.interceptor.engine.Fixtures.binding;
import static io.weir.ratelimit.interceptor.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DecidingStoreTest {
    private final FakeBackend backend = new FakeBackend();
    private final DecidingStore store =
            new DecidingStore(backend, Fixtures.NO_LOCAL, new Outages("fake", () -> 0, List.of()));

    private boolean allowedInAnOutage(Binding binding, Charge... charges) {
        return store.decide(binding, List.of(charges)).decision().allowed()
                && store.decideAsync(binding, List.of(charges))
                        .toCompletableFuture()
                        .join()
                        .decision()
                        .allowed();
    }

    @Test
    void aPolicyInShadowModeRefusesNobodyInAnOutageEither() {
        Policy closed = policy("closed", "ip", 1, FailureMode.CLOSED);
        Policy open = policy("open", "ip", 1, FailureMode.OPEN);
        Charge ofClosed = new Charge(closed.limits(), "i.203.0.113.7", 1);
        Charge ofOpen = new Charge(open.limits(), "i.203.0.113.7", 1);
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(allowedInAnOutage(binding(1, closed, open), ofClosed.asShadow(), ofOpen))
                .isTrue();
        assertThat(allowedInAnOutage(binding(1, closed), ofClosed.asShadow())).isTrue();
        assertThat(allowedInAnOutage(binding(1, closed, open), ofClosed, ofOpen.asShadow()))
                .isFalse();
    }

    @Test
    void whatAStoreDecidesFromMemoryWhileItsBreakerIsOpenEndsNoOutage() {
        AtomicLong nanos = new AtomicLong();
        AtomicBoolean open = new AtomicBoolean(true);
        FakeBackend remembering = new FakeBackend() {
            @Override
            public BackendStatus status() {
                return new BackendStatus(true, open.get(), Duration.ZERO);
            }
        };
        Outages outages = new Outages("fake", nanos::get, List.of());
        DecidingStore deciding = new DecidingStore(remembering, Fixtures.NO_LOCAL, outages);
        Policy policy = policy("open", "ip", 1, FailureMode.OPEN);
        List<Charge> charges = List.of(new Charge(policy.limits(), "i.203.0.113.7", 1));
        remembering.failure = FakeBackend.down(Reason.BREAKER_OPEN);
        deciding.decide(binding(1, policy), charges);
        remembering.failure = null;
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(2));
        deciding.decide(binding(1, policy), charges);
        deciding.decideAsync(binding(1, policy), charges).toCompletableFuture().join();
        assertThat(outages.away()).isTrue();
        open.set(false);
        deciding.decide(binding(1, policy), charges);
        assertThat(outages.away()).isFalse();
    }
}
