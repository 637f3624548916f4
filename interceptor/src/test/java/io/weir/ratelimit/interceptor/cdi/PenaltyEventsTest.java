// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.limit.Micros;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Penalties and blocks in a CDI container. */
class PenaltyEventsTest {
    private static final Identity ANN = Identity.principal("ann");
    private static final String[] LINES = {
        "ratelimit.policies.plan.limit=2/1h",
        "ratelimit.policies.plan.key=principal",
        "ratelimit.policies.plan.penalty.after=5/1m",
        "ratelimit.policies.plan.penalty.for=15m",
    };

    @ApplicationScoped
    public static class Observer {
        private final BlockingQueue<PenaltyImposed> received = new LinkedBlockingQueue<>();
        private final BlockingQueue<PenaltyImposed> receivedLater = new LinkedBlockingQueue<>();

        public void now(@Observes PenaltyImposed event) {
            received.add(event);
        }

        public void later(@ObservesAsync PenaltyImposed event) {
            receivedLater.add(event);
        }

        PenaltyImposed next() throws InterruptedException {
            return received.poll(10, TimeUnit.SECONDS);
        }

        PenaltyImposed nextLater() throws InterruptedException {
            return receivedLater.poll(10, TimeUnit.SECONDS);
        }

        boolean isEmpty() {
            return received.isEmpty() && receivedLater.isEmpty();
        }
    }

    @Test
    void observersReceiveThePenaltyAndAnOperatorEndsTheBlock() throws Exception {
        try (Container container = Container.start(LINES, Observer.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            for (int call = 0; call < 7; call++) {
                limiter.acquire("plan", ANN);
            }
            Observer observer = container.bean(Observer.class);
            PenaltyImposed event = observer.next();
            assertThat(event).isNotNull();
            assertThat(event.policy()).isEqualTo("plan");
            assertThat(event.key()).doesNotContain("ann");
            assertThat(event.duration()).isEqualTo(Duration.ofMinutes(15));
            assertThat(observer.nextLater()).isEqualTo(event);
            assertThat(((Decision.Rejected) limiter.acquire("plan", ANN)).blocked())
                    .isTrue();

            CallerOperations operations = container.bean(CallerOperations.class);
            CallerOperations.Caller caller = operations.callerByMaskedKey("plan", event.key());
            List<Quota> quotas = operations.peek(caller, "");
            assertThat(quotas.get(0).blockedFor()).isBetween(Duration.ofMinutes(14), Duration.ofMinutes(15));
            operations.unblock(caller);
            assertThat(((Decision.Rejected) limiter.acquire("plan", ANN)).blocked())
                    .isFalse();
            assertThat(observer.isEmpty()).isTrue();
        }
    }

    @Test
    void applicationCodeBlocksAndUnblocksAKey() {
        try (Container container = Container.start(LINES, Observer.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            assertThat(limiter.block("plan", ANN, Duration.ofMinutes(2))).isEqualTo(Duration.ofMinutes(2));
            assertThat(limiter.blockAsync("plan", ANN, Duration.ofMinutes(1))
                            .toCompletableFuture()
                            .join())
                    .isGreaterThan(Duration.ofMinutes(1));
            assertThat(limiter.acquire("plan", ANN).allowed()).isFalse();
            assertThat(Micros.blockedFor(limiter.peek("plan", ANN).get(0))).isPositive();
            limiter.unblock("plan", ANN);
            assertThat(limiter.acquire("plan", ANN).allowed()).isTrue();
            limiter.block("plan", ANN, Duration.ofMinutes(2));
            limiter.reset("plan", ANN);
            assertThat(limiter.acquire("plan", ANN).allowed()).isTrue();
        }
    }
}
