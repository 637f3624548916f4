// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.instance.InstanceName;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.interceptor.cdi.Beans.InvalidBackend;
import io.weir.ratelimit.interceptor.cdi.Beans.InvalidLimits;
import io.weir.ratelimit.interceptor.cdi.Beans.Listener;
import io.weir.ratelimit.interceptor.cdi.Beans.Mailer;
import io.weir.ratelimit.interceptor.cdi.Beans.Observer;
import io.weir.ratelimit.interceptor.cdi.Beans.ProducedBackend;
import io.weir.ratelimit.interceptor.cdi.Beans.Reports;
import io.weir.ratelimit.interceptor.cdi.Beans.SlotlessBackend;
import io.weir.ratelimit.interceptor.cdi.Beans.UnavailableBackend;
import io.weir.ratelimit.interceptor.cdi.Beans.WindowBackend;
import io.weir.ratelimit.interceptor.cdi.hidden.Visible;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.enterprise.context.spi.CreationalContext;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.metrics.Gauge;
import org.eclipse.microprofile.metrics.MetricID;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WiringTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.twice.limit=2/1h",
        "ratelimit.policies.twice.key=principal",
        "ratelimit.policies.by-user.limit=1/1h",
        "ratelimit.policies.by-user.key=arg:user"
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

    private static String[] policiesAnd(String... more) {
        String[] all = new String[POLICIES.length + more.length];
        System.arraycopy(POLICIES, 0, all, 0, POLICIES.length);
        System.arraycopy(more, 0, all, POLICIES.length, more.length);
        return all;
    }

    @Test
    void aMethodOverItsLimitThrowsTheDecisionAndDoesNotRun() {
        try (Container container = Container.start(POLICIES, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            assertThat(reports.make()).isEqualTo(1);
            assertThat(reports.make()).isEqualTo(2);
            RateLimitExceededException rejection =
                    catchThrowableOfType(RateLimitExceededException.class, reports::make);
            assertThat(rejection).hasMessageMatching("rate limit exceeded: Reports.make; retry after \\d+ s");
            assertThat(rejection.getStackTrace()).isEmpty();
            assertThat(rejection.retryAfter())
                    .hasValueSatisfying(
                            wait -> assertThat(wait).isBetween(Duration.ofMinutes(59), Duration.ofHours(2)));
            assertThat(rejection.decision().quotas()).singleElement().satisfies(quota -> {
                assertThat(quota.policy()).isEqualTo("Reports.make");
                assertThat(quota.permits()).isEqualTo(2);
                assertThat(quota.remaining()).isZero();
            });
            assertThat(reports.free()).as("runs").isEqualTo(3);
            assertThat(log.lines()).contains("""
                            INFO WEIR-001 Rate limits are enabled. Backend: local (auto: no Redis is configured). Instance: %s.
                              headers: draft-11, legacy; trusted proxies: none; bypass: none; reload interval: 5s; instances: auto
                              policy Reports.make: 2/1h sliding-window; key global; 1 method
                              policy by-user: 1/1h sliding-window; key arg:user; 1 method
                              policy twice: 2/1h sliding-window; key principal; 2 methods""".formatted(InstanceName.own()));
        }
    }

    @Test
    void configurationOverridesTheAnnotationAndTheCost() {
        String[] lines =
                policiesAnd("ratelimit.policies.\"Reports.make\".limit=4/1h", "ratelimit.costs.\"Reports.make\"=2");
        try (Container container = Container.start(lines, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            reports.make();
            reports.make();
            assertThatThrownBy(reports::make).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void aMethodWithMaxWaitRunsAtItsSlot() {
        String[] lines = policiesAnd(
                "ratelimit.policies.\"Reports.make\".limit=20/1s",
                "ratelimit.policies.\"Reports.make\".algorithm=leaky-bucket",
                "ratelimit.policies.\"Reports.make\".max-wait=10s");
        try (Container container = Container.start(lines, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            long start = System.nanoTime();
            for (int call = 0; call < 13; call++) {
                reports.make();
            }
            assertThat(System.nanoTime() - start)
                    .as("thirteen calls in a row are twelve slots apart")
                    .isGreaterThan(590_000_000);
        }
    }

    @Test
    void outsideOfRequestsEachCallIsCharged() {
        try (Container container = Container.start(POLICIES, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            reports.twice();
            reports.twice();
            assertThatThrownBy(reports::twice).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void theMethodsOfARequestShareAChargeAndAMoreExpensiveOnePaysTheDifference() {
        try (Container container = Container.start(POLICIES, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            container.inRequest(TestCall.byPrincipal("alice"), () -> {
                reports.twice();
                reports.expensive();
                reports.twice();
                assertThatThrownBy(reports::twice).isInstanceOf(RateLimitExceededException.class);
            });
            container.inRequest(
                    TestCall.byPrincipal("alice"),
                    () -> assertThatThrownBy(reports::twice).isInstanceOf(RateLimitExceededException.class));
            container.inRequest(
                    TestCall.byPrincipal("bob"),
                    () -> assertThat(reports.twice()).isPositive());
        }
    }

    @Test
    void anArgumentCanBeTheKey() {
        try (Container container = Container.start(POLICIES, Reports.class)) {
            Reports reports = container.bean(Reports.class);
            reports.ofUser("x", "alice");
            assertThatThrownBy(() -> reports.ofUser("y", "alice")).isInstanceOf(RateLimitExceededException.class);
            reports.ofUser("x", 42);
            reports.ofUser("x", null);
            assertThatThrownBy(() -> reports.ofUser("x", " "))
                    .as("both are anonymous")
                    .isInstanceOf(RateLimitExceededException.class);
        }
    }

    /** Jersey creates resources in this way. The instance is intercepted, but it belongs to no bean. */
    @Test
    void anInstanceThatAFrameworkCreatesIsLimited() {
        try (Container container = Container.start(POLICIES, Reports.class)) {
            BeanManager beans = container.bean(BeanManager.class);
            CreationalContext<Reports> context = beans.createCreationalContext(null);
            Reports reports = beans.getInjectionTargetFactory(beans.createAnnotatedType(Reports.class))
                    .createInjectionTarget(null)
                    .produce(context);
            reports.make();
            reports.make();
            assertThatThrownBy(reports::make)
                    .isInstanceOf(RateLimitExceededException.class)
                    .hasMessageMatching("rate limit exceeded: Reports.make; retry after \\d+ s");
        }
    }

    @Test
    void aMethodThatIsPublicThroughABridgeIsLimited() {
        try (Container container = Container.start(config(), Visible.class)) {
            Visible bean = container.bean(Visible.class);
            bean.find();
            assertThatThrownBy(bean::find).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void aRateLimiterHasTheSameLimits() throws Exception {
        try (Container container = Container.start(POLICIES, Reports.class, Mailer.class, Listener.class)) {
            RateLimiter limiter = container.bean(Mailer.class).limiter;
            assertThat(limiter.acquire("twice", "tenant").allowed()).isTrue();
            assertThat(limiter.acquireAsync("twice", "tenant")
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS)
                            .allowed())
                    .isTrue();
            assertThat(limiter.acquire("twice", "tenant")).isInstanceOf(Decision.Rejected.class);
            assertThat(limiter.peek("twice", "tenant"))
                    .extracting(Quota::remaining)
                    .containsExactly(0L);
            limiter.reset("twice", "tenant");
            assertThat(limiter.peek("twice", "tenant"))
                    .extracting(Quota::remaining)
                    .containsExactly(2L);
            assertThatThrownBy(() -> limiter.acquire("no such", "tenant"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no such");
            container.bean(Reports.class).make();
            assertThat(container.bean(Listener.class).decisions())
                    .containsExactly("RateLimiter true", "RateLimiter true", "RateLimiter false", "Reports.make true");
        }
    }

    @Test
    void notifiesObserversOfRejectionsAndOfTheBackend() throws Exception {
        String[] lines = policiesAnd("ratelimit.backend=local");
        try (Container container = Container.start(lines, Reports.class, Observer.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            limiter.acquire("twice", "tenant", 2);
            assertThat(limiter.acquire("twice", "tenant").allowed()).isFalse();
            Observer observer = container.bean(Observer.class);
            assertThat(observer.rejected()).singleElement().satisfies(event -> {
                assertThat(event.policy()).isEqualTo("twice");
                assertThat(event.endpoint()).isEqualTo("RateLimiter");
                assertThat(event.key()).doesNotContain("tenant");
            });
            assertThat(observer.rejectedLater().poll(10, TimeUnit.SECONDS)).isEqualTo("twice");
        }
        try (Container container = Container.start(
                policiesAnd("ratelimit.backend=unavailable"), UnavailableBackend.class, Observer.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            limiter.acquire("twice", "tenant");
            limiter.acquire("twice", "tenant");
            assertThat(container.bean(Observer.class).changes())
                    .containsExactly(new BackendStateChanged("unavailable", false, "connection"));
        }
    }

    @Test
    void anObserverThatThrowsDoesNotAffectDecisions() {
        try (Container container = Container.start(POLICIES, Beans.Throwing.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            limiter.acquire("twice", "tenant", 2);
            assertThat(limiter.acquire("twice", "tenant")).isInstanceOf(Decision.Rejected.class);
            assertThat(limiter.acquire("twice", "tenant")).isInstanceOf(Decision.Rejected.class);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-303"))
                    .hasSize(1);
        }
    }

    /** Rejected clients determine the number of events. */
    @Test
    void dropsEventsOfSlowObserversAndLogsTheirFailures() throws Exception {
        try (Container container = Container.start(POLICIES, Beans.Slow.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            Beans.Slow slow = container.bean(Beans.Slow.class);
            limiter.acquire("twice", "tenant", 2);
            for (int i = 0; i < 2 * CdiEvents.MAX_PENDING; i++) {
                limiter.acquire("twice", "tenant");
            }
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-308"))
                    .hasSize(1);
            slow.release();
            for (int i = 0; i < CdiEvents.MAX_PENDING; i++) {
                assertThat(slow.received().tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(slow.received().tryAcquire())
                    .as("events beyond the maximum were dropped")
                    .isFalse();
        }
        assertThat(log.lines())
                .filteredOn(line -> line.contains("WEIR-303 An asynchronous observer of RateLimitRejected failed"))
                .hasSize(1);
    }

    @Test
    void aMissingConfiguredMetricsApiFailsTheDeployment() {
        assertThatThrownBy(() -> Container.start(policiesAnd("ratelimit.metrics=otel")))
                .hasMessageContaining("WEIR-211 ratelimit.metrics = otel: OpenTelemetry is not available")
                .hasMessageNotContaining("WEIR-114");
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void reportsAllProblemsInOneMessage() {
        String[] lines = policiesAnd(
                "ratelimit.policies.twice.on-failure=shut",
                "ratelimit.backend=memcached",
                "ratelimit.enabled=yes",
                "ratelimit.key-secret=hunter2",
                "ratelimit.typo=1",
                "ratelimit.redis.address=redis://${no.such.property}");
        assertThatThrownBy(() -> Container.start(lines, Reports.class, InvalidLimits.class))
                .hasMessageContaining("WEIR-100 The rate limit configuration is invalid:")
                .hasMessageContaining("WEIR-101 ratelimit.redis.address: ")
                .hasMessageContaining("WEIR-102 ratelimit.enabled = yes: must be true or false")
                .hasMessageContaining("WEIR-102 ratelimit.policies.twice.on-failure = shut: ")
                .hasMessageContaining("WEIR-104 ratelimit.key-secret = ***: ")
                .hasMessageContaining("WEIR-110 InvalidLimits.nowhere: policy nowhere has no limit")
                .hasMessageContaining(
                        "WEIR-111 " + InvalidLimits.class.getName() + ".often() @RateLimit(limit) = often: ")
                .hasMessageContaining("WEIR-114 ratelimit.typo: ")
                .hasMessageContaining(
                        "WEIR-205 ratelimit.backend = memcached: no backend has this name; use auto or one of [local]")
                .hasMessageNotContaining("hunter2");
        assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-001"));
    }

    @Test
    void aLimitThatTheBackendDoesNotSupportFailsTheDeployment() {
        String[] lines = Container.config(
                "ratelimit.backend=windows",
                "ratelimit.policies.api.limit=10/1m, 100/day",
                "ratelimit.policies.api.algorithm=fixed-window",
                "ratelimit.policies.api.tier=header:Plan",
                "ratelimit.policies.api.tiers.free.limit=5/1m",
                "ratelimit.policies.web.limit=7/1m",
                "ratelimit.policies.fine.limit=7/1m",
                "ratelimit.policies.fine.algorithm=fixed-window");
        assertThatThrownBy(() -> Container.start(lines, WindowBackend.class))
                .hasMessageContaining(
                        "WEIR-610 policy api = 100/day UTC: the backend windows does not support this limit;"
                                + " use another algorithm or window, or another backend")
                .hasMessageContaining("WEIR-610 policy web = 7/1m sliding-window: ")
                .hasMessageNotContaining("policy fine");
    }

    /** Simulates a server that leaves a resource without a scope to its REST implementation. */
    @Test
    void aClassThatIsNotABeanIsLimitedAndCheckedAtItsFirstCall() throws Exception {
        Method make = Reports.class.getMethod("make");
        Method often = InvalidLimits.class.getMethod("often");
        try (Container container = Container.start(POLICIES)) {
            RateLimitGate gate = container.application().gate();
            assertThat(gate.method(Reports.class, make).binding().policies()).hasSize(1);
            assertThatThrownBy(() -> gate.method(InvalidLimits.class, often))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(
                            "WEIR-204 InvalidLimits.often uses policy InvalidLimits.often, which is invalid")
                    .hasMessageContaining(
                            "WEIR-111 " + InvalidLimits.class.getName() + ".often() @RateLimit(limit) = often: ");
        }
    }

    @Test
    void aRedisWithoutItsBackendFailsTheDeploymentWithoutThePassword() {
        assertThatThrownBy(() -> Container.start(config("ratelimit.redis.address=redis://:hunter2@host:6379")))
                .hasMessageContaining("WEIR-206 ratelimit.redis.address = ***: a Redis is configured")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void theFailureModeLocalLimitsInProcess() {
        String[] lines = policiesAnd(
                "ratelimit.backend=unavailable",
                "ratelimit.instances=2",
                "ratelimit.policies.twice.on-failure=local",
                "ratelimit.policies.twice.limit=3/1h",
                "ratelimit.policies.twice.algorithm=fixed-window");
        try (Container container = Container.start(lines, Reports.class, UnavailableBackend.class)) {
            Reports reports = container.bean(Reports.class);
            assertThat(reports.twice()).isEqualTo(1);
            assertThatThrownBy(reports::twice)
                    .isInstanceOfSatisfying(RateLimitUnavailableException.class, exception -> {
                        assertThat(exception.reason()).isEqualTo("connection");
                        assertThat(exception.retryAfter()).isBetween(Duration.ofMinutes(58), Duration.ofHours(1));
                    });
        }
    }

    @Test
    void selectsABackendOfTheApplicationByItsName() {
        UnavailableBackend.STARTS.clear();
        String[] lines = policiesAnd("ratelimit.backend=unavailable", "ratelimit.policies.twice.on-failure=closed");
        try (Container container = Container.start(lines, Reports.class, UnavailableBackend.class)) {
            Reports reports = container.bean(Reports.class);
            assertThat(UnavailableBackend.STARTS).hasSize(1);
            assertThat(reports.make()).as("open").isEqualTo(1);
            assertThatThrownBy(reports::twice)
                    .isInstanceOf(RateLimitUnavailableException.class)
                    .hasMessage("the rate limit backend is unavailable: connection");
            assertThat(container.bean(RateLimiter.class).acquire("twice", "a")).isEqualTo(Beans.CLOSED);
        }
    }

    @Test
    void autoSelectsAConfiguredBackendAndLocalDoesNotStartIt() {
        UnavailableBackend.STARTS.clear();
        try (Container container = Container.start(POLICIES, Reports.class, UnavailableBackend.class)) {
            assertThat(log.lines()).anyMatch(line -> line.contains("Backend: unavailable"));
            assertThat(UnavailableBackend.STARTS).hasSize(1);
            assertThat(container.bean(RateLimiter.class).acquire("twice", "a")).isInstanceOf(Decision.Degraded.class);
        }
        try (Container container =
                Container.start(policiesAnd("ratelimit.backend=local"), Reports.class, UnavailableBackend.class)) {
            assertThat(log.lines()).anyMatch(line -> line.contains("Backend: local"));
            assertThat(UnavailableBackend.STARTS).hasSize(1);
            assertThat(container.bean(Reports.class).make()).isEqualTo(1);
        }
    }

    @Test
    void registersTheMetricsOfABackendBeforeItStarts() {
        UnavailableBackend.STARTS.clear();
        String[] lines = policiesAnd("ratelimit.backend=batching");
        try (Container container = Container.start(lines, Beans.BatchingBackend.class, Beans.Metrics.class)) {
            assertThat(UnavailableBackend.STARTS).containsExactly("registered", "started");
            assertThat(container.bean(MetricRegistry.class).getGauge(new MetricID("ratelimit.queue.size")))
                    .returns(4L, Gauge::getValue);
            assertThat(container
                            .bean(MetricRegistry.class)
                            .getGauge(new MetricID("ratelimit.near.limit.minutes", new Tag("policy", "twice"))))
                    .as("exists before the first decision")
                    .returns(0L, Gauge::getValue);
        }
        UnavailableBackend.STARTS.clear();
        try (Container container = Container.start(lines, Beans.BatchingBackend.class)) {
            assertThat(UnavailableBackend.STARTS).as("without metrics").containsExactly("started");
            assertThat(container.bean(RateLimiter.class).acquire("twice", "a")).isInstanceOf(Decision.Degraded.class);
        }
    }

    @Test
    void aSelectedBackendWithProblemsFailsTheDeploymentAndIsNotStarted() {
        UnavailableBackend.STARTS.clear();
        assertThatThrownBy(() -> Container.start(policiesAnd("ratelimit.backend=invalid"), InvalidBackend.class))
                .hasMessageContaining("WEIR-999 backend.address = ***: is wrong; correct it");
        assertThat(UnavailableBackend.STARTS).isEmpty();
    }

    @Test
    void aBackendWithoutConcurrencyLimitsFailsTheDeployment() {
        String[] lines = policiesAnd("ratelimit.backend=unavailable", "ratelimit.policies.twice.concurrency=3");
        assertThatThrownBy(() -> Container.start(lines, Reports.class, UnavailableBackend.class))
                .hasMessageContaining(
                        "WEIR-134 ratelimit.policies.twice.concurrency = 3: backend unavailable has no concurrency limits");
    }

    @Test
    void aBackendThatSupportsConcurrencyLimitsButHoldsNoSlotsFailsTheDeployment() {
        String[] lines = policiesAnd("ratelimit.backend=slotless", "ratelimit.policies.twice.concurrency=3");
        assertThatThrownBy(() -> Container.start(lines, Reports.class, SlotlessBackend.class))
                .hasMessageContaining(
                        "WEIR-134 ratelimit.policies.twice.concurrency = 3: backend slotless has no concurrency limits");
    }

    @Test
    void aBackendThatCannotBlockKeysFailsTheDeploymentOfAPenalty() {
        String[] lines = policiesAnd(
                "ratelimit.backend=unavailable",
                "ratelimit.policies.twice.penalty.after=5/1m",
                "ratelimit.policies.twice.penalty.for=10m");
        assertThatThrownBy(() -> Container.start(lines, Reports.class, UnavailableBackend.class))
                .hasMessageContaining(
                        "WEIR-134 ratelimit.policies.twice.penalty.after = 5/1m: backend unavailable cannot block keys");
    }

    /** A client proxy implements only the type of its producer. */
    @Test
    void aProducedBackendHasItsCapabilities() {
        String[] lines = policiesAnd(
                "ratelimit.backend=local",
                "ratelimit.policies.twice.concurrency=3",
                "ratelimit.policies.twice.penalty.after=5/1m",
                "ratelimit.policies.twice.penalty.for=10m");
        try (Container container = Container.start(lines, Reports.class, ProducedBackend.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            assertThat(limiter.block("twice", Identity.of("a"), Duration.ofMinutes(1)))
                    .isEqualTo(Duration.ofMinutes(1));
            assertThat(limiter.acquire("twice", "a").allowed()).isFalse();
            Decision allowed = limiter.acquire("twice", "b");
            assertThat(allowed.receipt().holdsSlots()).isTrue();
            limiter.release(allowed.receipt());
        }
    }

    @Test
    void aReleasedCallMakesRoomForAnother() {
        try (Container container =
                Container.start(policiesAnd("ratelimit.policies.slow.concurrency=1"), Reports.class)) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            Decision first = limiter.acquire("slow", "a");
            assertThat(limiter.acquire("slow", "a").allowed()).isFalse();
            limiter.release(first.receipt());
            assertThat(limiter.acquire("slow", "a").allowed()).isTrue();
        }
    }

    @Test
    void allowsEveryCallWhileLimitsAreOff() {
        String[] lines = policiesAnd("ratelimit.enabled=false", "ratelimit.backend=unavailable");
        try (Container container = Container.start(lines, Reports.class, UnavailableBackend.class)) {
            Reports reports = container.bean(Reports.class);
            for (int i = 1; i <= 10; i++) {
                assertThat(reports.make()).isEqualTo(i);
                assertThat(container
                                .bean(RateLimiter.class)
                                .acquire("twice", "a")
                                .allowed())
                        .isTrue();
            }
            assertThat(log.lines())
                    .anyMatch(line -> line.equals(
                            "INFO WEIR-001 Rate limits are disabled. Every call is allowed and nothing is counted."));
        }
    }

    @Test
    void acceptsAtMostOneResponder() {
        try (Container container = Container.start(POLICIES)) {
            assertThat(container.application().responder()).isEmpty();
        }
        try (Container container = Container.start(POLICIES, Beans.Responder.class)) {
            assertThat(container.application().responder()).isPresent();
        }
        assertThatThrownBy(() -> Container.start(POLICIES, Beans.Responder.class, Beans.OtherResponder.class))
                .hasMessageContaining("WEIR-123 RejectionResponder: the application has 2 beans of this type, but a "
                        + "rejection has one body; keep one bean, which can delegate to the others");
    }
}
