// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.PropertySources;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.instance.ApplicationEvents;
import io.weir.ratelimit.core.instance.LookupThreads;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis;
import io.weir.ratelimit.interceptor.user.Claims;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.spi.DeploymentException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** The platform of an application in a CDI container: its configuration, its beans and its annotated methods. */
final class CdiPlatform implements Platform {
    private final ApplicationBeans beans;
    private final Discovered discovered;
    private final Config serverConfig = serverConfig();
    private final CurrentConfig current = CurrentConfig.of(serverConfig);
    private final CdiEvents events;
    private final Supplier<Executor> executor = new ContainerExecutor();
    private Optional<RejectionResponder> responder = Optional.empty();
    private volatile @Nullable RateLimitGate gate;

    /** The discoveries of the container. */
    record Discovered(Set<Class<?>> beanClasses, Set<Class<?>> managedBeans, MethodNames names) {}

    CdiPlatform(RateLimitBeans beans, Discovered discovered) {
        this.beans = new ApplicationBeans(beans);
        this.discovered = discovered;
        this.events = new CdiEvents(this.beans.manager());
    }

    /**
     * Returns the configuration of the server.
     *
     * @throws DeploymentException if MicroProfile Config has no implementation
     */
    static Config serverConfig() {
        try {
            return ConfigProvider.getConfig();
        } catch (IllegalStateException e) {
            throw new DeploymentException(MESSAGES.text("WEIR-217.implementation", e.getMessage()), e);
        }
    }

    Discovered discovered() {
        return discovered;
    }

    ApplicationBeans beans() {
        return beans;
    }

    /** Returns the bean that writes the bodies of rejections. It is known after the {@linkplain #check check}. */
    Optional<RejectionResponder> responder() {
        return responder;
    }

    /** Sets the gate, which knows the current request. */
    void gate(RateLimitGate next) {
        gate = next;
    }

    @Override
    public PropertySources properties() {
        return current;
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return beans.all(type);
    }

    @Override
    public <T> Map<String, T> named(Class<T> type, Problems problems) {
        return new NamedResolvers(beans.manager(), problems).named(type);
    }

    @Override
    public AnnotatedMethods methods(Problems problems) {
        return AnnotationScanner.methods(
                discovered.beanClasses(), discovered.managedBeans(), discovered.names(), problems);
    }

    @Override
    public ApplicationEvents events() {
        return events;
    }

    @Override
    public Telemetry telemetry(Settings settings, String backend, KeyMasker masker, Problems problems) {
        return TelemetryApis.choose(
                settings,
                backend,
                beans,
                TelemetryApis.Export.of(current.first()),
                events.rejectionObservers(),
                masker,
                problems);
    }

    @Override
    public void check(Problems problems) {
        responder = beans.responder(problems);
    }

    @Override
    public EngineEnvironment environment() {
        return all(EngineEnvironment.class).stream().findFirst().orElse(EngineEnvironment.REAL);
    }

    @Override
    public Supplier<Executor> executor() {
        return executor;
    }

    @Override
    public LookupThreads.Source lookupThreads() {
        return ContainerThreads.find();
    }

    @Override
    public boolean hasClaims() {
        return Claims.areAvailable(beans.manager());
    }

    @Override
    public Optional<RequestState> currentRequest() {
        RateLimitGate known = gate;
        return known == null ? Optional.empty() : known.current();
    }

    @Override
    public Set<String> environmentVariables() {
        return EnvironmentVariables.of(System.getenv().keySet(), serverConfig);
    }
}
