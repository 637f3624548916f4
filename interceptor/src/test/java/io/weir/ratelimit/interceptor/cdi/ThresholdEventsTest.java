// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The observers of used shares in a CDI container. */
class ThresholdEventsTest {
    private static final String[] LINES = {
        "ratelimit.policies.plan.limit=5/1h",
        "ratelimit.policies.plan.key=principal",
        "ratelimit.policies.plan.notify-at=80%",
    };

    private LogCapture log;

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    @ApplicationScoped
    public static class Observer {
        private final BlockingQueue<QuotaThresholdReached> received = new LinkedBlockingQueue<>();
        private final BlockingQueue<QuotaThresholdReached> receivedLater = new LinkedBlockingQueue<>();

        public void first(@Observes @Priority(1) QuotaThresholdReached event) {
            throw new IllegalStateException("the first observer of the test");
        }

        public void second(@Observes @Priority(2) QuotaThresholdReached event) {
            received.add(event);
        }

        public void failing(@ObservesAsync @Priority(1) QuotaThresholdReached event) {
            throw new IllegalStateException("the asynchronous observer of the test");
        }

        public void later(@ObservesAsync @Priority(2) QuotaThresholdReached event) {
            receivedLater.add(event);
        }

        QuotaThresholdReached next() throws InterruptedException {
            return received.poll(10, TimeUnit.SECONDS);
        }

        QuotaThresholdReached nextLater() throws InterruptedException {
            return receivedLater.poll(10, TimeUnit.SECONDS);
        }

        boolean isEmpty() {
            return received.isEmpty() && receivedLater.isEmpty();
        }
    }

    @ApplicationScoped
    public static class Bean {
        @RateLimit(limit = "4/1h", key = "global")
        public void call() {}
    }

    @Test
    void eachObserverReceivesTheEventAlthoughOthersThrow() throws Exception {
        try (Container container = Container.start(LINES, Observer.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            Observer observer = container.bean(Observer.class);
            Identity ann = Identity.principal("ann.lee");
            limiter.acquire("plan", ann, 3);
            assertThat(observer.isEmpty()).isTrue();
            assertThat(limiter.acquire("plan", ann).allowed()).isTrue();
            QuotaThresholdReached event = observer.next();
            assertThat(event.policy()).isEqualTo("plan");
            assertThat(event.percent()).isEqualTo(80);
            assertThat(event.identity()).isEqualTo(ann);
            assertThat(event.key()).doesNotContain("ann.lee");
            assertThat(event.quota().remaining()).isEqualTo(1);
            assertThat(observer.nextLater()).isEqualTo(event);

            limiter.acquire("plan", ann);
            limiter.acquire("plan", Identity.principal("ben"), 5);
            assertThat(observer.next().identity()).isEqualTo(Identity.principal("ben"));
            assertThat(observer.nextLater().identity()).isEqualTo(Identity.principal("ben"));
            assertThat(observer.isEmpty()).isTrue();
        }
        awaitBothFailures();
        assertThat(failures()).hasSize(2);
    }

    /** The asynchronous observers of an event have ended when the failure of one of them is logged. */
    private void awaitBothFailures() {
        Await.until(
                "the failures of both kinds of observers",
                Duration.ofSeconds(10),
                () -> failures().size() >= 2);
    }

    private List<String> failures() {
        return log.lines().stream().filter(line -> line.contains("WEIR-303")).toList();
    }

    @Test
    void aPropertySetsTheSharesOfAnAnnotatedMethod() throws Exception {
        String[] lines = {"ratelimit.policies.\"Bean.call\".notify-at=50%"};
        try (Container container = Container.start(lines, Observer.class, Bean.class)) {
            Bean bean = container.bean(Bean.class);
            bean.call();
            bean.call();
            QuotaThresholdReached event = container.bean(Observer.class).next();
            assertThat(event.endpoint()).isEqualTo("Bean.call");
            assertThat(event.identity()).isEqualTo(Identity.GLOBAL);
            // The asynchronous observers need the container.
            awaitBothFailures();
        }
    }
}
