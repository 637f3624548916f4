// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** An engine without a container. */
final class PlainEngine implements StartedEngine {
    private final ClassLoader loader;
    private final Runnable end;
    private final TestEnvironment environment;
    private final HostedWeir weir;
    private final RateLimits limits;

    /**
     * The platform of a test.
     *
     * @param properties the configuration
     * @param environment the clock and the backends
     * @param setup the resolvers and the sources
     */
    private record TestPlatform(ConfigProperties.Sources properties, TestEnvironment environment, Setup setup)
            implements Platform {
        @Override
        public <T> List<T> all(Class<T> type) {
            return type == PolicySource.class
                    ? setup.sources().stream().map(type::cast).toList()
                    : List.of();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> Map<String, T> named(Class<T> type, Problems problems) {
            return (Map<String, T>) (type == KeyResolver.class ? setup.keys() : setup.tiers());
        }

        @Override
        public <E> List<Consumer<E>> observers(Class<E> type) {
            return List.of(environment.events()::add);
        }

        @Override
        public boolean hasClaims() {
            return true;
        }
    }

    /**
     * Starts an engine.
     *
     * @throws IllegalArgumentException if the configuration is invalid, with all of its problems
     */
    PlainEngine(ConfigProperties config, Setup setup, ClassLoader loader, Runnable end) {
        this.loader = loader;
        this.end = end;
        this.environment = new TestEnvironment(setup.now(), setup.redis().map(RedisAddress::of));
        try {
            weir = HostedWeir.on(new TestPlatform(ConfigProperties.Sources.of(config), environment, setup));
        } catch (InvalidConfigurationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        limits = new EngineLimits(environment, weir::limiter, () -> weir);
    }

    @Override
    public TestEnvironment environment() {
        return environment;
    }

    @Override
    public RateLimiter limiter() {
        return weir.limiter();
    }

    @Override
    public RateLimits limits() {
        return limits;
    }

    @Override
    public void inject(Object test) {}

    @Override
    public ClassLoader loader() {
        return loader;
    }

    @Override
    public void stop() {
        weir.close();
        environment.stop();
        end.run();
    }
}
