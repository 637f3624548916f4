// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis;
import io.weir.ratelimit.interceptor.user.Claims;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.DeploymentException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/**
 * The platform of an application in a CDI container: its configuration, its beans and its annotated methods. Another host of such a
 * container replaces what the container does in another way.
 */
public class CdiPlatform implements Platform {
    private final BeanManager manager;
    private final Instance<Object> objects;
    private final Discovered discovered;
    private final Config serverConfig;
    private final ConfigProperties.Sources sources;
    private final CdiEvents events;
    private final Supplier<Executor> executor = new ContainerExecutor();
    private Optional<RejectionResponder> responder = Optional.empty();
    private volatile @Nullable RateLimitGate gate;

    /**
     * The discoveries of the container.
     *
     * @param managedBeans the classes whose asynchronous methods can wait without a thread
     * @param added the places of limits that only the container knows
     */
    public record Discovered(
            Set<Class<?>> beanClasses, Set<Class<?>> managedBeans, MethodNames names, Set<String> added) {}

    /** Creates the platform of a container, from the objects that a bean can inject and from the configuration of the server. */
    protected CdiPlatform(
            BeanManager manager,
            Instance<Object> objects,
            Discovered discovered,
            Config serverConfig,
            ConfigProperties.Sources sources) {
        this.manager = manager;
        this.objects = objects;
        this.discovered = discovered;
        this.serverConfig = serverConfig;
        this.sources = sources;
        this.events = new CdiEvents(manager);
    }

    static CdiPlatform of(RateLimitBeans beans, Discovered discovered) {
        Config config = serverConfig();
        return new CdiPlatform(beans.visible(), beans.objects(), discovered, config, CurrentConfig.of(config));
    }

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

    BeanManager manager() {
        return manager;
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
    public ConfigProperties.Sources properties() {
        return sources;
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return manager.createInstance().select(type, Any.Literal.INSTANCE).stream()
                .toList();
    }

    @Override
    public <T> Map<String, T> named(Class<T> type, Problems problems) {
        return new NamedResolvers(manager, problems).named(type);
    }

    @Override
    public AnnotatedMethods methods(Problems problems) {
        discovered.added().forEach(place -> problems.add(MESSAGES.problem("WEIR-208.added", place, "")));
        return AnnotationScanner.methods(
                discovered.beanClasses(), discovered.managedBeans(), discovered.names(), problems);
    }

    @Override
    public <E> List<Consumer<E>> observers(Class<E> type) {
        return events.observers(type);
    }

    @Override
    public Telemetry telemetry(Settings settings, String backend, KeyMasker masker, Problems problems) {
        return new TelemetryApis(settings, backend, this::find, export())
                .choose(observers(RateLimitRejected.class), masker, problems);
    }

    protected TelemetryApis.Export export() {
        return TelemetryApis.Export.of(sources.first());
    }

    /** Finds an object that the server provides. */
    private <T> Optional<T> find(Class<T> type) {
        Instance<T> found = objects.select(type);
        return found.isResolvable() ? Optional.of(found.get()) : Optional.empty();
    }

    @Override
    public void check(Problems problems) {
        List<RejectionResponder> responders = all(RejectionResponder.class);
        if (responders.size() > 1) {
            problems.add(MESSAGES.problem("WEIR-123", RejectionResponder.class.getSimpleName(), "", responders.size()));
        }
        responder = responders.stream().findFirst();
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
    public Threads lookupThreads() {
        return ContainerExecutor.lookupThreads();
    }

    @Override
    public boolean hasClaims() {
        return Claims.areAvailable(manager);
    }

    @Override
    public Optional<RequestState> currentRequest() {
        RateLimitGate known = gate;
        return known == null ? Optional.empty() : known.current();
    }

    @Override
    public Set<String> environmentVariables() {
        return new MicroProfileProperties(serverConfig).ownVariables();
    }
}
