// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.smallrye.metrics.SharedMetricRegistries;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.eclipse.microprofile.metrics.MetricRegistry;

/** The application of the container tests. */
final class Beans {
    private Beans() {}

    @ApplicationScoped
    @RateLimit("twice")
    public static class Reports {
        int runs;

        @RateLimit(limit = "2/1h", key = "global")
        public int make() {
            return ++runs;
        }

        public int twice() {
            return ++runs;
        }

        @RateLimit(value = "twice", cost = 2)
        public int expensive() {
            return ++runs;
        }

        @RateLimitExempt
        public int free() {
            return ++runs;
        }

        @RateLimit("by-user")
        public int ofUser(String other, @RateLimitKey("user") Object user) {
            return ++runs;
        }
    }

    @Dependent
    public static class Mailer {
        @Inject
        RateLimiter limiter;
    }

    @ApplicationScoped
    public static class Listener implements DecisionListener {
        private final List<String> decisions = new CopyOnWriteArrayList<>();

        public List<String> decisions() {
            return decisions;
        }

        @Override
        public void onDecision(DecisionEvent event) {
            decisions.add(event.endpoint() + " " + event.decision().allowed());
        }
    }

    @ApplicationScoped
    public static class Observer {
        private final List<RateLimitRejected> rejected = new CopyOnWriteArrayList<>();
        private final BlockingQueue<String> rejectedLater = new LinkedBlockingQueue<>();
        private final List<BackendStateChanged> changes = new CopyOnWriteArrayList<>();

        public List<RateLimitRejected> rejected() {
            return rejected;
        }

        public BlockingQueue<String> rejectedLater() {
            return rejectedLater;
        }

        public List<BackendStateChanged> changes() {
            return changes;
        }

        public void rejected(@Observes RateLimitRejected event) {
            rejected.add(event);
        }

        public void rejectedLater(@ObservesAsync RateLimitRejected event) {
            rejectedLater.add(event.policy());
        }

        public void changed(@Observes BackendStateChanged event) {
            changes.add(event);
        }
    }

    /** An observer that blocks until it is released, and then throws. */
    @ApplicationScoped
    public static class Slow {
        private final CountDownLatch released = new CountDownLatch(1);
        private final Semaphore received = new Semaphore(0);

        public void release() {
            released.countDown();
        }

        public Semaphore received() {
            return received;
        }

        public void rejected(@ObservesAsync RateLimitRejected event) throws InterruptedException {
            released.await();
            received.release();
            throw new IllegalStateException("observer");
        }
    }

    @ApplicationScoped
    public static class Throwing {
        public void rejected(@Observes RateLimitRejected event) {
            throw new IllegalStateException("observer");
        }
    }

    /** A backend that is always unavailable. */
    @ApplicationScoped
    public static class UnavailableBackend implements RateLimitBackend {
        static final List<String> STARTS = new CopyOnWriteArrayList<>();

        @Override
        public String name() {
            return "unavailable";
        }

        @Override
        public boolean isConfigured() {
            return true;
        }

        @Override
        public void start() {
            STARTS.add("started");
        }

        private static BackendException failure() {
            return new BackendException(BackendException.Reason.CONNECTION, "connection refused", null);
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            throw failure();
        }

        @Override
        public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
            return CompletableFuture.failedStage(failure());
        }

        @Override
        public List<Quota> peek(List<Charge> charges) {
            throw failure();
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            return CompletableFuture.failedStage(failure());
        }

        @Override
        public CompletionStage<Void> refund(Charge charge) {
            return CompletableFuture.failedStage(failure());
        }

        @Override
        public void reset(List<PolicyLimits> limits, String storedKey) {
            throw failure();
        }
    }

    /** A backend that sends batches. */
    @ApplicationScoped
    public static class BatchingBackend extends UnavailableBackend {
        @Override
        public String name() {
            return "batching";
        }

        @Override
        public void registerListener(BackendListener listener) {
            STARTS.add("registered");
            listener.onBatch(3, 4);
        }
    }

    /** The registry of a server with MicroProfile Metrics. */
    @Dependent
    public static class Metrics {
        @Produces
        public MetricRegistry registry() {
            return SharedMetricRegistries.getOrCreate("batches");
        }
    }

    /** A backend that supports all limits, but cannot release a slot. */
    @ApplicationScoped
    public static class SlotlessBackend extends UnavailableBackend {
        @Override
        public String name() {
            return "slotless";
        }

        @Override
        public boolean supports(Limit limit) {
            return true;
        }
    }

    /** A producer of a backend behind a client proxy. */
    @Dependent
    public static class ProducedBackend {
        @Produces
        @ApplicationScoped
        public RateLimitBackend backend() {
            return new LocalBackend(100);
        }
    }

    /** A backend with an invalid configuration. */
    @ApplicationScoped
    public static class InvalidBackend extends UnavailableBackend {
        @Override
        public String name() {
            return "invalid";
        }

        @Override
        public List<ConfigurationProblem> validateConfiguration() {
            return List.of(new ConfigurationProblem("WEIR-999", "backend.address", "***", "is wrong", "correct it"));
        }
    }

    /** A backend with fixed windows only. */
    @ApplicationScoped
    public static class WindowBackend extends UnavailableBackend {
        @Override
        public String name() {
            return "windows";
        }

        @Override
        public boolean supports(Limit limit) {
            return limit.uses(Algorithm.FIXED_WINDOW);
        }
    }

    /** A responder that writes the bodies of rejections. */
    @ApplicationScoped
    public static class Responder implements RejectionResponder {
        @Override
        public Optional<Body> respond(Rejection rejection) {
            return Optional.of(new Body("text/plain", rejection.endpoint()));
        }
    }

    /** A second responder. */
    @Dependent
    public static class OtherResponder extends Responder {}

    @ApplicationScoped
    public static class InvalidLimits {
        @RateLimit(limit = "often")
        public void often() {}

        @RateLimit("nowhere")
        public void nowhere() {}
    }

    static final Decision CLOSED = new Decision.Degraded(FailureMode.CLOSED, false, "connection");
}
