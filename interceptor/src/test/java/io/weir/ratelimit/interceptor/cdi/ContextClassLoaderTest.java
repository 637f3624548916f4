// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.Extension;
import org.junit.jupiter.api.Test;

/** A deployment whose context class loader does not see the application, as WildFly has it for the WAR of an EAR. */
class ContextClassLoaderTest {
    @Test
    void readsTheConfigurationOfTheApplication() {
        try (Container container =
                Container.start(config("ratelimit.policies.there.limit=1/1h"), Blind.class, There.class)) {
            There there = container.bean(There.class);
            there.call();
            assertThatThrownBy(there::call).isInstanceOf(RateLimitExceededException.class);
            assertThat(container.bean(Blind.class).left()).isSameAs(ClassLoader.getPlatformClassLoader());
        }
    }

    @ApplicationScoped
    public static class There {
        @RateLimit("there")
        public void call() {}
    }

    public static class Blind implements Extension {
        private ClassLoader usual;
        private ClassLoader left;

        void before(@Observes @Priority(1) AfterDeploymentValidation event) {
            usual = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
        }

        void after(@Observes @Priority(Integer.MAX_VALUE) AfterDeploymentValidation event) {
            left = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(usual);
        }

        ClassLoader left() {
            return left;
        }
    }
}
