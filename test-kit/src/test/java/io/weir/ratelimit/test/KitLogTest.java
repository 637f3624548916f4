// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.interceptor.cdi.CurrentRequest;
import io.weir.ratelimit.interceptor.cdi.LimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitInterceptor;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.enterprise.inject.spi.Extension;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

@Timeout(60)
class KitLogTest {
    abstract static class OutageCase {
        RateLimiter limiter;
        RateLimits limits;
        RateLimitClock clock;

        @RepeatedTest(2)
        void fails() {
            assertThat(limiter.acquire("api", "k").allowed()).isTrue();
            limits.failBackend();
            limiter.acquire("api", "k");
            clock.advance(Duration.ofSeconds(7));
        }
    }

    @WeirTest(properties = "ratelimit.policies.api.limit=3/1h", beans = Object.class)
    static class ContainerCase extends OutageCase {}

    @WeirTest(properties = "ratelimit.policies.api.limit=3/1h", container = false)
    static class PlainCase extends OutageCase {}

    @WeirTest(beans = Object.class)
    static class WithoutProperties {
        @RepeatedTest(2)
        void starts(RateLimits limits) {
            limits.failBackend();
        }
    }

    private static List<String> logOf(Class<?> test) {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        try (LogCapture log = new LogCapture()) {
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(selectClass(test))
                                    .build(),
                            summary);
            assertThat(summary.getSummary().getTestsSucceededCount()).isEqualTo(2);
            return List.copyOf(log.lines());
        }
    }

    @Test
    void aTestInAContainerIsNoDeployment() {
        assertThat(logOf(ContainerCase.class))
                .anyMatch(line -> line.contains("WEIR-001"))
                .noneMatch(line -> line.contains("WEIR-611"))
                .filteredOn(line -> line.contains("WEIR-302"))
                .singleElement()
                .asString()
                .contains("after 7 s");
    }

    @Test
    void aTestWithoutPropertiesHasNoWarning() {
        assertThat(logOf(WithoutProperties.class))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).startsWith("INFO "));
    }

    @Test
    void aResetEndsAnOutageBeforeItMovesTheClock() {
        assertThat(logOf(PlainCase.class))
                .filteredOn(line -> line.contains("WEIR-302"))
                .singleElement()
                .asString()
                .contains("after 7 s");
    }

    @Test
    void aDeploymentReportsWhatClientsCanDo() {
        ClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader());
        TestConfig config = TestConfig.register(Map.of(), loader);
        try (LogCapture log = new LogCapture()) {
            try (SeContainer container = ContextLoader.call(loader, () -> deployment(loader))) {
                assertThat(container.isRunning()).isTrue();
            }
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-611"))
                    .singleElement()
                    .asString()
                    .startsWith("SEVERE")
                    .contains("Each client can reset limits, move their clock and fail the backend")
                    .contains(TestKitFilter.COMMAND);
        } finally {
            config.release();
        }
    }

    private static SeContainer deployment(ClassLoader loader) {
        SeContainerInitializer initializer =
                SeContainerInitializer.newInstance().disableDiscovery();
        ServiceLoader.load(Extension.class, loader).forEach(initializer::addExtensions);
        return initializer
                .addBeanClasses(
                        LimitBeans.class, RateLimitBeans.class, CurrentRequest.class, RateLimitInterceptor.class)
                .initialize();
    }
}
