// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.interceptor.WithoutApi;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.DeploymentException;
import java.lang.reflect.Method;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigBuilder;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.junit.jupiter.api.Test;

/** A server without MicroProfile Config: one message names what is missing. */
class MissingConfigTest {
    @Test
    void aMissingApiIsADeploymentProblem() throws Exception {
        Class<?> type =
                new WithoutApi("org.eclipse.microprofile.config.").loadClass(RateLimitExtension.class.getName());
        Object extension = type.getConstructor().newInstance();
        Method observer = type.getDeclaredMethod("requireConfig", BeforeBeanDiscovery.class);
        observer.setAccessible(true);
        assertThatThrownBy(() -> observer.invoke(extension, new Object[] {null}))
                .rootCause()
                .isInstanceOf(DeploymentException.class)
                .hasMessageStartingWith("WEIR-217 MicroProfile Config is not available to the application")
                .hasMessageContaining("io.smallrye.config:smallrye-config");
    }

    @Test
    void aMissingImplementationIsADeploymentProblem() {
        ConfigProviderResolver before = ConfigProviderResolver.instance();
        ConfigProviderResolver.setInstance(new NoImplementation());
        try {
            assertThatThrownBy(CdiPlatform::serverConfig)
                    .isInstanceOf(DeploymentException.class)
                    .hasMessageStartingWith(
                            "WEIR-217 MicroProfile Config has an API but no implementation (nothing found)");
        } finally {
            ConfigProviderResolver.setInstance(before);
        }
    }

    /** Fails as the API does without an implementation. */
    private static final class NoImplementation extends ConfigProviderResolver {
        @Override
        public Config getConfig() {
            throw new IllegalStateException("nothing found");
        }

        @Override
        public Config getConfig(ClassLoader loader) {
            return getConfig();
        }

        @Override
        public ConfigBuilder getBuilder() {
            throw new IllegalStateException("nothing found");
        }

        @Override
        public void registerConfig(Config config, ClassLoader loader) {}

        @Override
        public void releaseConfig(Config config) {}
    }
}
