// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.interceptor.cdi.CurrentRequest;
import io.weir.ratelimit.interceptor.cdi.LimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitInterceptor;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.Extension;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import org.jboss.weld.bootstrap.spi.BeanDiscoveryMode;
import org.jboss.weld.environment.se.Weld;
import org.jspecify.annotations.Nullable;

/** An engine in a CDI container, which the interceptor of the beans calls. */
final class ContainerEngine implements StartedEngine {
    /** Weld reads this property once per JVM. */
    private static final String WITHOUT_SCHEMAS = "org.jboss.weld.xml.disableValidating";

    private static final List<String> OF_REST =
            List.of("jakarta.ws.rs.Path", "jakarta.ws.rs.ext.Provider", "jakarta.ws.rs.ApplicationPath");

    static {
        // Otherwise Weld reads the XML schemas of all versions of beans.xml at its first start, also if there is no
        // beans.xml.
        if (System.getProperty(WITHOUT_SCHEMAS) == null) {
            System.setProperty(WITHOUT_SCHEMAS, "true");
        }
    }

    private final ClassLoader loader;
    private final TestEnvironment environment;
    private final TestConfig config;
    private final SeContainer container;
    private final RateLimits limits;
    private final Setup setup;
    private @Nullable RestRuntime rest;

    /**
     * Starts a container.
     *
     * @throws jakarta.enterprise.inject.spi.DeploymentException if the configuration is invalid, with all of its problems
     */
    ContainerEngine(Setup setup, ClassLoader loader) {
        this.loader = loader;
        this.setup = setup;
        this.environment = new TestEnvironment(setup.now(), setup.redis().map(RedisAddress::of));
        this.limits = new EngineLimits(environment, this::limiter, this::weir);
        this.config = TestConfig.register(setup.properties(), loader);
        try {
            this.container = ContextLoader.call(loader, () -> initializer().initialize());
        } catch (RuntimeException e) {
            environment.stop();
            config.release();
            throw e;
        }
    }

    private SeContainerInitializer initializer() {
        // The few beans of a test need less time than the start of threads.
        SeContainerInitializer initializer = SeContainerInitializer.newInstance()
                .addProperty("org.jboss.weld.bootstrap.concurrentDeployment", false)
                .addProperty("org.jboss.weld.executor.threadPoolType", "NONE");
        if (!setup.hasBeans()) {
            return initializer.addExtensions(new TestBeans(environment, limits));
        }
        initializer.disableDiscovery().addExtensions(new TestBeans(environment, limits));
        ServiceLoader.load(Extension.class, loader).forEach(initializer::addExtensions);
        Set<Class<?>> classes = new LinkedHashSet<>(setup.beans());
        classes.addAll(ResolverBeans.find(loader, config.config()));
        addPackages((Weld) initializer);
        return initializer
                .addBeanClasses(
                        LimitBeans.class, RateLimitBeans.class, CurrentRequest.class, RateLimitInterceptor.class)
                .addBeanClasses(classes.toArray(Class<?>[]::new));
    }

    /** Weld finds the classes that are beans in an archive whose {@code beans.xml} has the mode {@code annotated}, and those of REST. */
    private void addPackages(Weld weld) {
        List<Class<?>> ofRest = new ArrayList<>();
        OF_REST.stream().filter(ClassPath::has).forEach(name -> ofRest.add(annotation(name)));
        weld.setBeanDiscoveryMode(BeanDiscoveryMode.ANNOTATED)
                .addPackages(true, setup.packages().toArray(Class<?>[]::new))
                .addProperty(Weld.ADDITIONAL_BEAN_DEFINING_ANNOTATIONS_PROPERTY, ofRest);
    }

    private Class<?> annotation(String name) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public TestEnvironment environment() {
        return environment;
    }

    @Override
    public RateLimiter limiter() {
        return container.select(RateLimiter.class).get();
    }

    private HostedWeir weir() {
        return container.select(HostedWeir.class).get();
    }

    @Override
    public RateLimits limits() {
        return limits;
    }

    @Override
    public synchronized RestRuntime rest() {
        RestRuntime started = rest;
        if (started == null) {
            started = ContextLoader.call(loader, () -> InProcessRest.start(beanClasses()));
            rest = started;
        }
        return started;
    }

    private List<Class<?>> beanClasses() {
        return setup.packages().isEmpty() && setup.hasBeans()
                ? setup.beans()
                : container.getBeanManager().getBeans(Object.class, Any.Literal.INSTANCE).stream()
                        .<Class<?>>map(Bean::getBeanClass)
                        .distinct()
                        .toList();
    }

    @Override
    public void inject(Object test) {
        inject(test, test.getClass());
    }

    private <T> void inject(Object test, Class<T> type) {
        BeanManager beans = container.getBeanManager();
        beans.getInjectionTargetFactory(beans.createAnnotatedType(type))
                .createInjectionTarget(null)
                .inject(type.cast(test), beans.createCreationalContext(null));
    }

    @Override
    public ClassLoader loader() {
        return loader;
    }

    @Override
    public void stop() {
        ContextLoader.call(loader, () -> {
            container.close();
            return loader;
        });
        environment.stop();
        config.release();
    }
}
