// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

@Timeout(60)
class EnginesTest {
    private static CyclicBarrier both;

    /** Lets the classes run at the same time. */
    private static void meet() {
        try {
            both.await(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("the classes do not run in parallel", e);
        }
    }

    @ApplicationScoped
    static class Service {
        @RateLimit("shared")
        void call() {}
    }

    abstract static class Case {
        @Inject
        Service service;

        @Inject
        RateLimiter limiter;

        RateLimits limits;

        abstract long permits();

        @Test
        void hasALimitOfItsOwn() {
            meet();
            assertThat(limits.remaining("shared", "a")).isEqualTo(permits());
            limiter.acquire("shared", "a");
            meet();
            assertThat(limits.remaining("shared", "a")).isEqualTo(permits() - 1);
            service.call();
            meet();
        }
    }

    @WeirTest(properties = "ratelimit.policies.shared.limit=3/1h", beans = Service.class)
    static class ThreeCase extends Case {
        @Override
        long permits() {
            return 3;
        }
    }

    @WeirTest(properties = "ratelimit.policies.shared.limit=7/1h", beans = Service.class)
    static class SevenCase extends Case {
        @Override
        long permits() {
            return 7;
        }
    }

    @WeirTest(properties = "ratelimit.policies.wrong.limit=no limit", container = false)
    static class InvalidCase {
        @Test
        void neverRuns() {}
    }

    private static TestExecutionSummary run(boolean parallel, Class<?>... types) {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .configurationParameter("junit.jupiter.execution.parallel.enabled", Boolean.toString(parallel))
                .configurationParameter("junit.jupiter.execution.parallel.mode.default", "same_thread")
                .configurationParameter("junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "2");
        for (Class<?> type : types) {
            request.selectors(selectClass(type));
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request.build(), summary);
        return summary.getSummary();
    }

    @Test
    void parallelTestClassesDoNotSeeEachOther() {
        both = new CyclicBarrier(2);
        TestExecutionSummary summary = run(true, ThreeCase.class, SevenCase.class);
        StringWriter failures = new StringWriter();
        summary.printFailuresTo(new PrintWriter(failures, true), 20);
        assertThat(failures.toString()).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isEqualTo(2);
    }

    @Test
    void anInvalidConfigurationFailsTheClassWithItsProblems() {
        assertThat(run(false, InvalidCase.class).getFailures())
                .singleElement()
                .satisfies(failure -> assertThat(failure.getException())
                        .hasMessageContainingAll("ratelimit.policies.wrong.limit", "no limit"));
    }

    /** Only the environment of an application has its secret and its Redis. */
    @Test
    void expressionsForTheSecretAndForRedisDoNotApplyWithoutMicroProfileConfig(@TempDir Path folder) throws Exception {
        Files.createDirectories(folder.resolve("META-INF"));
        Files.writeString(folder.resolve("META-INF/microprofile-config.properties"), """
                ratelimit.key-secret=${API_LIMIT_SECRET}
                ratelimit.redis.address=${REDIS:redis://localhost}
                ratelimit.policies.api.limit=${LIMIT}
                ratelimit.namespace=shop
                """);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, null)) {
            ConfigProperties read = TestProperties.over(loader, Map.of());
            assertThat(read.names()).containsExactly("ratelimit.namespace", "ratelimit.policies.api.limit");
            assertThat(read.get("ratelimit.policies.api.limit").readable()).isFalse();
        }
    }

    @Test
    void withoutDockerAClassIsSkippedWithAReason() {
        assertThatExceptionOfType(org.opentest4j.TestAbortedException.class)
                .isThrownBy(() -> RedisAddress.of("redis:7.2-alpine", () -> false))
                .withMessageContaining("Docker");
        assertThat(RedisAddress.of("redis://localhost:6379", () -> false)).isEqualTo("redis://localhost:6379");
    }

    @Test
    void beansWithoutAContainerAreAnError() {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> Engines.start(
                        Setup.of(WithoutContainer.class.getAnnotation(WeirTest.class)), WithoutContainer.class))
                .withMessageContaining("weld-se-core");
    }

    @WeirTest(container = false, beans = Service.class)
    static class WithoutContainer {}

    @Named("enginesPlans")
    static class Plans implements TierResolver {
        @Override
        public Optional<String> tier(Identity caller) {
            return Optional.of("gold");
        }
    }

    @Named("enginesAccount")
    static class Account implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return Optional.of(Identity.of("one"));
        }
    }

    @Named("enginesDatabase")
    static class Database implements TierResolver {
        @Inject
        Service service;

        @Override
        public Optional<String> tier(Identity caller) {
            return Optional.empty();
        }
    }

    @WeirTest(
            container = false,
            properties = {
                "ratelimit.policies.named.limit=3/1h",
                "ratelimit.policies.named.key=enginesAccount",
                "ratelimit.policies.named.tier=enginesPlans",
                "ratelimit.policies.named.tiers.gold.limit=7/1h"
            })
    static class WithResolvers {
        RateLimits limits;

        @Test
        void starts() {
            assertThat(limits.remaining("named", "a")).isEqualTo(3);
        }
    }

    @WeirTest(
            container = false,
            properties = {
                "ratelimit.policies.named.limit=3/1h",
                "ratelimit.policies.named.tier=enginesDatabase",
                "ratelimit.policies.named.tiers.gold.limit=7/1h"
            })
    static class WithInjection {
        @Test
        void neverRuns() {}
    }

    @Test
    void anEngineWithoutAContainerHasTheResolversThatTheConfigurationNames() {
        TestExecutionSummary summary = run(false, WithResolvers.class);
        assertThat(summary.getFailures()).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isOne();
    }

    @Test
    void aResolverWithInjectionNeedsAContainer() {
        assertThat(run(false, WithInjection.class).getFailures())
                .singleElement()
                .satisfies(failure -> assertThat(failure.getException())
                        .hasMessageContainingAll(Database.class.getName(), "needs injection", "container = true"));
    }
}
