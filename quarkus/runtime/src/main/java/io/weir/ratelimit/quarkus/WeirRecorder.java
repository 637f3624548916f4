// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.arc.runtime.BeanContainer;
import io.quarkus.runtime.RuntimeValue;
import io.quarkus.runtime.ShutdownContext;
import io.quarkus.runtime.annotations.Recorder;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.weir.ratelimit.interceptor.cdi.CdiPlatform.Discovered;
import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.interceptor.cdi.MethodNames;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.rest.QuotaResource;
import io.weir.ratelimit.runtime.HttpResource;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import jakarta.enterprise.inject.spi.CDI;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** The steps of the start of an application. They run when the configuration is known and before HTTP is open. */
@Recorder
public class WeirRecorder {
    /** The deployed application. In development mode, each restart replaces it. */
    private static volatile @Nullable RateLimitExtension current;

    /** Returns the supplier of the bean that beans and entry points of the interceptor module use. */
    public Supplier<RateLimitExtension> extension() {
        return WeirRecorder::current;
    }

    static RateLimitExtension current() {
        return Objects.requireNonNull(current, "the deployment of rate limits has not ended");
    }

    /**
     * Deploys and starts the limits of the application.
     *
     * @param beanClasses the classes of limited beans and of resources
     * @param usesLimiter whether a bean uses a limiter
     * @param executor the executor of Quarkus
     * @param container the bean container, which has to exist
     * @throws ConfigurationException if the configuration is invalid, with all problems
     */
    public void deploy(
            List<String> beanClasses,
            boolean usesLimiter,
            Executor executor,
            BeanContainer container,
            ShutdownContext shutdown) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Set<Class<?>> classes = load(beanClasses, loader);
        CallThreads threads = new CallThreads(executor);
        // No method needs another thread to continue: an event loop suspends the call, and a worker waits itself.
        QuarkusPlatform platform = new QuarkusPlatform(
                new Discovered(classes, Set.of(), MethodNames.of(classes), Set.of()),
                ConfigProvider.getConfig(),
                threads);
        DeployedApplication application;
        try {
            application = DeployedApplication.on(platform);
        } catch (InvalidConfigurationException e) {
            // Quarkus shows the message of this exception without a stack trace.
            throw new ConfigurationException(e.getMessage());
        }
        RateLimitExtension extension = RateLimitExtension.of(application, classes, usesLimiter);
        current = extension;
        CallThreads.start(threads);
        application.weir().start(loader);
        extension.logWarnings();
        shutdown.addShutdownTask(application.weir()::close);
    }

    /**
     * Returns the supplier of the clients that annotations name.
     *
     * @param types the first annotated type of each client
     */
    public Supplier<?> annotatedClients(Map<String, String> types) {
        return () -> ClientBeans.annotated(types);
    }

    /** Returns the handler of the console, which a plug-in provides. */
    public Handler<RoutingContext> console() {
        return new ResourceRoute(() -> CDI.current().select(HttpResource.class).get());
    }

    /** Returns the handler of the console that pages of the same origin can show in a frame, as the Dev UI does. */
    public Handler<RoutingContext> framedConsole() {
        Handler<RoutingContext> console = console();
        return route -> {
            route.addHeadersEndHandler(end -> allowFrames(route.response().headers()));
            console.handle(route);
        };
    }

    private static void allowFrames(MultiMap headers) {
        String policy = headers.get("Content-Security-Policy");
        if (policy != null) {
            headers.set("Content-Security-Policy", policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"));
            headers.set("X-Frame-Options", "SAMEORIGIN");
        }
    }

    /** Adds the quota resource to the routes of the application if its path is configured. */
    public void quotas(RuntimeValue<Router> router) {
        HttpResource quotas =
                new QuotaResource(() -> current().application().weir().quotas());
        CurrentApplication.quotaPath()
                .ifPresent(path -> router.getValue().route(path).handler(new ResourceRoute(() -> quotas)));
    }

    private static Set<Class<?>> load(List<String> names, ClassLoader loader) {
        Set<Class<?>> classes = new LinkedHashSet<>();
        for (String name : names) {
            try {
                classes.add(Class.forName(name, false, loader));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException("the class " + name + " of the build is missing", e);
            }
        }
        return classes;
    }
}
