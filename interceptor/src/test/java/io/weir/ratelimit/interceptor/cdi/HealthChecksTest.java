// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.interceptor.cdi.Beans.UnavailableBackend;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.configurator.BeanConfigurator;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponse.Status;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;
import org.junit.jupiter.api.Test;

class HealthChecksTest {
    private static HealthCheckResponse ready(Container container) {
        return container.health(Readiness.Literal.INSTANCE).call();
    }

    private static HealthCheckResponse live(Container container) {
        return container.health(Liveness.Literal.INSTANCE).call();
    }

    @Test
    void theLocalBackendIsUp() {
        try (Container container = Container.start(config())) {
            for (HealthCheckResponse response : List.of(ready(container), live(container))) {
                assertThat(response.getName()).isEqualTo("ratelimit");
                assertThat(response.getStatus()).isEqualTo(Status.UP);
                assertThat(response.getData())
                        .contains(Map.of(
                                "backend", "local", "state", "up", "breaker", "closed", "degradedDecisions", 0L));
            }
        }
    }

    @Test
    void anUnavailableBackendIsReportedAsUpByDefault() {
        String[] lines = config("ratelimit.backend=unavailable", "ratelimit.policies.a.limit=1/1h");
        try (Container container = Container.start(lines, UnavailableBackend.class)) {
            container.bean(RateLimiter.class).acquire("a", "tenant");
            for (HealthCheckResponse response : List.of(ready(container), live(container))) {
                assertThat(response.getStatus()).isEqualTo(Status.UP);
                assertThat(response.getData().orElseThrow())
                        .containsEntry("state", "degraded")
                        .containsEntry("lastError", "connection")
                        .containsEntry("degradedDecisions", 1L)
                        .containsKey("lastErrorSecondsAgo");
            }
        }
    }

    @Test
    void anInstanceWithoutItsBackendIsNotReadyIfConfigured() {
        String[] lines = config(
                "ratelimit.backend=unavailable",
                "ratelimit.policies.a.limit=1/1h",
                "ratelimit.health.fail-when-degraded=true");
        try (Container container = Container.start(lines, UnavailableBackend.class)) {
            assertThat(ready(container).getStatus()).isEqualTo(Status.UP);
            container.bean(RateLimiter.class).acquire("a", "tenant");
            assertThat(ready(container).getStatus()).isEqualTo(Status.DOWN);
            assertThat(live(container).getStatus()).isEqualTo(Status.UP);
        }
    }

    @Test
    void reportsThatLimitsAreOff() {
        String[] lines = config("ratelimit.enabled=false", "ratelimit.health.fail-when-degraded=true");
        try (Container container = Container.start(lines)) {
            assertThat(ready(container).getStatus()).isEqualTo(Status.UP);
            assertThat(ready(container).getData().orElseThrow()).containsEntry("state", "off");
        }
    }

    @Test
    void withoutMicroProfileHealthThereAreNoChecks() throws Exception {
        assertThat(added(RateLimitExtension.class)).isEqualTo(2);
        ClassLoader server = new WithoutHealth();
        assertThat(added(server.loadClass(RateLimitExtension.class.getName()))).isZero();
    }

    /** Returns the number of beans that an extension adds. */
    private static int added(Class<?> extension) throws ReflectiveOperationException {
        AtomicInteger added = new AtomicInteger();
        Object bean = proxy(BeanConfigurator.class, (proxy, method, arguments) -> proxy);
        Object event = proxy(AfterBeanDiscovery.class, (proxy, method, arguments) -> {
            added.incrementAndGet();
            return bean;
        });
        Method observer = extension.getDeclaredMethod("health", AfterBeanDiscovery.class);
        observer.setAccessible(true);
        observer.invoke(extension.getDeclaredConstructor().newInstance(), event);
        return added.get();
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(HealthChecksTest.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    /** A class loader with the library and without the API. */
    private static final class WithoutHealth extends ClassLoader {
        WithoutHealth() {
            super(HealthChecksTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.eclipse.microprofile.health.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("io.weir.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defined(name);
        }

        private Class<?> defined(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
