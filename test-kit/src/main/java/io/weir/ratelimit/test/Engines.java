// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.interceptor.cdi.MicroProfileProperties;
import java.net.URL;
import java.net.URLClassLoader;

/** Starts engines by what the class path of a test has. */
final class Engines {
    private Engines() {}

    /**
     * Starts an engine.
     *
     * @param type the test class
     * @throws IllegalStateException if the test names beans, but the class path has no container
     */
    static StartedEngine start(Setup setup, Class<?> type) {
        // The configuration and the container of a test class are those of its own class loader.
        ClassLoader loader = new URLClassLoader(new URL[0], type.getClassLoader());
        boolean config = ClassPath.hasConfig() && TestConfig.isImplemented();
        boolean container = config && setup.container() && ClassPath.hasContainer();
        if (!container && setup.hasBeans()) {
            throw new IllegalStateException("beans need weir-interceptor, weld-se-core and an implementation of"
                    + " MicroProfile Config on the class path of the test");
        }
        if (setup.redis().isPresent() && !ClassPath.hasRedis()) {
            throw new IllegalStateException("tests on Redis need weir-redisson-backend on the class path of the test");
        }
        if (container && !setup.hasResolvers()) {
            return new ContainerEngine(setup, loader);
        }
        return config
                ? plain(setup, loader)
                : new PlainEngine(TestProperties.over(loader, setup.properties()), setup, loader, () -> {});
    }

    private static StartedEngine plain(Setup setup, ClassLoader loader) {
        TestConfig config = TestConfig.register(setup.properties(), loader);
        try {
            ConfigProperties properties = new MicroProfileProperties(config.config()).withJoinedLists();
            Setup complete = ResolverBeans.addTo(setup, loader, config.config());
            return new PlainEngine(properties, complete, loader, config::release);
        } catch (RuntimeException e) {
            config.release();
            throw e;
        }
    }
}
