// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.client.ClientExtension;
import io.weir.ratelimit.console.OperationsBeans;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.control.RequestContextController;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.enterprise.inject.spi.Extension;
import java.lang.annotation.Annotation;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.health.HealthCheck;

/** A CDI container with the library, the beans of a test and its configuration. */
final class Container implements AutoCloseable {
    private final Config config;
    private final SeContainer cdi;

    @SuppressWarnings("unchecked") // the container takes generic varargs
    private Container(Config config, Class<?>[] beans) {
        this.config = config;
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        // An earlier look-up has registered the default configuration.
        ConfigProviderResolver.instance()
                .releaseConfig(ConfigProviderResolver.instance().getConfig(loader));
        ConfigProviderResolver.instance().registerConfig(config, loader);
        try {
            this.cdi = SeContainerInitializer.newInstance()
                    .disableDiscovery()
                    .addExtensions(RateLimitExtension.class, ClientExtension.class)
                    .addExtensions(Stream.of(beans)
                            .filter(Extension.class::isAssignableFrom)
                            .map(type -> (Class<? extends Extension>) type)
                            .toArray(Class[]::new))
                    .addBeanClasses(
                            LimitBeans.class,
                            RateLimitBeans.class,
                            OperationsBeans.class,
                            CurrentRequest.class,
                            RateLimitInterceptor.class)
                    .addBeanClasses(beans)
                    .initialize();
        } catch (RuntimeException e) {
            ConfigProviderResolver.instance().releaseConfig(config);
            throw e;
        }
    }

    /** Starts a container; each line is {@code name=value}, each class a bean or an extension. */
    static Container start(String[] lines, Class<?>... beans) {
        Map<String, String> properties = new HashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            properties.put(line.substring(0, equals), line.substring(equals + 1));
        }
        Config config = new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new PropertiesConfigSource(properties, "application", 100))
                .build();
        return start(config, beans);
    }

    /** Starts a container with a configuration. */
    static Container start(Config config, Class<?>... beans) {
        return new Container(config, beans);
    }

    static String[] config(String... lines) {
        return lines;
    }

    <T> T bean(Class<T> type) {
        return cdi.select(type).get();
    }

    HealthCheck health(Annotation kind) {
        return cdi.select(HealthCheck.class, kind).get();
    }

    DeployedApplication application() {
        return bean(RateLimitExtension.class).application();
    }

    /** Runs a task in a request of a caller. */
    void inRequest(CallContext caller, Runnable task) {
        RequestContextController request = bean(RequestContextController.class);
        request.activate();
        try {
            new RequestStates(cdi.getBeanManager()).start(caller, application().gate());
            task.run();
        } finally {
            request.deactivate();
        }
    }

    /** Returns the number of allowed calls of a caller, each in a request of its own. The others are rejected under the policy. */
    int allowed(CallContext caller, String policy, int calls, Runnable call) {
        int[] allowed = new int[1];
        for (int i = 0; i < calls; i++) {
            inRequest(caller, () -> {
                try {
                    call.run();
                    allowed[0]++;
                } catch (RateLimitExceededException e) {
                    assertThat(e.getMessage()).contains(policy);
                }
            });
        }
        return allowed[0];
    }

    @Override
    public void close() {
        cdi.close();
        ConfigProviderResolver.instance().releaseConfig(config);
    }
}
