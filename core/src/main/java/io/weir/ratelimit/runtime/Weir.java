// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.changes.InstanceChanges;
import io.weir.ratelimit.core.changes.RuntimeChanges;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.instance.ApplicationWarnings;
import io.weir.ratelimit.core.instance.TaskTimer;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.message.Message;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.operations.InstanceOperations;
import io.weir.ratelimit.core.operations.KnownPolicies;
import io.weir.ratelimit.core.operations.Operations;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.CurrentPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The assembled limiter of one application. It is created once, started and closed.
 *
 * <p>In plain Java, {@link #builder()} creates it. A host creates it on its {@link Platform}.
 */
public final class Weir implements AutoCloseable {
    private final Assembly assembly;
    private final PolicyParts loaded;
    private final EngineParts parts;
    private final Telemetry telemetry;
    private List<TaskTimer> timers = List.of();
    private final RateLimiter limiter;
    private final CallerQuotas quotas;
    private final Operations operations;

    Weir(
            Assembly assembly,
            PolicyParts loaded,
            EngineParts parts,
            Telemetry telemetry,
            Optional<InstanceChanges> changes) {
        this.assembly = assembly;
        this.loaded = loaded;
        this.parts = parts;
        this.telemetry = telemetry;
        CurrentPolicies policies = parts.policies();
        this.limiter = new EngineRateLimiter(
                parts.engine(),
                policies::policies,
                assembly.executor(),
                () -> currentRequest().map(RequestState::caller));
        this.quotas = parts.factory()
                .quotas(
                        parts.engine(),
                        policies::policies,
                        loaded.loader().policiesWithoutMethods(),
                        loaded.lookups().resolvers().keyTerms());
        this.operations = operations(changes);
    }

    private Operations operations(Optional<InstanceChanges> changes) {
        Settings settings = assembly.settings();
        CurrentPolicies policies = parts.policies();
        EngineParts.KnownKeys known = parts.known();
        return new InstanceOperations(
                settings.console(),
                new KnownPolicies(
                        policies::policies, policies::origins, loaded.loader().methods()),
                parts.readings(),
                new InstanceOperations.Backend(parts.health(), loaded.backend().fleetStore()),
                new InstanceOperations.Keys(parts.keys(), known.topKeys(), known.blocks(), assembly.masker()),
                new InstanceOperations.Changes(
                        changes.map(RuntimeChanges.class::cast),
                        settings.changes()
                                .role()
                                .filter(role -> settings.changes().enabled())),
                parts.engine().slots());
    }

    /**
     * Returns a builder for plain Java.
     *
     * @return a builder without properties
     */
    public static WeirBuilder builder() {
        return new WeirBuilder();
    }

    /**
     * Creates the limiter of a host. It decides from now on; {@link #start} starts its repeated tasks.
     *
     * @param platform what the host provides
     * @return the limiter
     * @throws InvalidConfigurationException if the configuration is invalid, with all problems
     */
    public static Weir on(Platform platform) {
        return new Assembly(platform).weir();
    }

    /** Sets the repeated tasks. */
    void repeat(List<TaskTimer> tasks) {
        timers = List.copyOf(tasks);
    }

    /**
     * Starts the repeated tasks, such as the reload of policies.
     *
     * @param application the context class loader of the tasks
     */
    public void start(ClassLoader application) {
        timers.forEach(timer -> timer.start(assembly.executor().get(), application));
    }

    /** Cancels the calls that wait without a thread. */
    public void endWaits() {
        parts.engine().stop();
    }

    /** Ends the waits, the repeated tasks and the look-ups. */
    @Override
    public void close() {
        endWaits();
        timers.forEach(TaskTimer::stop);
        assembly.lookupThreads().stop();
        assembly.platform().closed();
    }

    /**
     * Returns the limiter for application code.
     *
     * @return the limiter
     */
    public RateLimiter limiter() {
        return limiter;
    }

    /**
     * Returns the settings of the application.
     *
     * @return the settings
     */
    public Settings settings() {
        return assembly.settings();
    }

    /**
     * Returns the configuration of the first policies.
     *
     * @return the properties
     */
    public ConfigProperties configuration() {
        return loaded.config();
    }

    /**
     * Returns the engine, for the gate of a host.
     *
     * @return the engine
     */
    public RateLimitEngine engine() {
        return parts.engine();
    }

    /**
     * Returns the policies in force.
     *
     * @return the policies
     */
    public CurrentPolicies policies() {
        return parts.policies();
    }

    /**
     * Returns the names of the policies with sources of limits for single keys.
     *
     * @return the names
     */
    public Set<String> policiesOfSources() {
        return loaded.lookups().sources().policies();
    }

    /**
     * Returns the resolvers of keys and tiers.
     *
     * @return the resolvers
     */
    public Resolvers resolvers() {
        return loaded.lookups().resolvers();
    }

    /**
     * Returns the part that finds the addresses of clients.
     *
     * @return the part
     */
    public ClientAddress addresses() {
        return loaded.lookups().addresses();
    }

    /**
     * Returns the clock of decisions.
     *
     * @return the clock
     */
    public Sleeper clock() {
        return assembly.environment().clock();
    }

    /**
     * Returns the executor of background tasks.
     *
     * @return a supplier that is called on the thread that starts a task
     */
    public Supplier<Executor> executor() {
        return assembly.executor();
    }

    /**
     * Returns the health of the backend.
     *
     * @return the health
     */
    public BackendHealth health() {
        return parts.health();
    }

    /**
     * Returns the listeners that measure and log.
     *
     * @return the telemetry
     */
    public Telemetry telemetry() {
        return telemetry;
    }

    /**
     * Returns a plug-in of this limiter.
     *
     * @param type the class of the plug-in
     * @param <T> the class of the plug-in
     * @return the plug-in
     * @throws IllegalStateException if the limiter does not have it
     */
    public <T extends Plugin> T plugin(Class<T> type) {
        return assembly.plugins().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no plug-in " + type.getName()));
    }

    /**
     * Returns the request that the current thread serves.
     *
     * @return the request, empty if the thread serves none
     */
    public Optional<RequestState> currentRequest() {
        return assembly.platform().currentRequest();
    }

    /**
     * Returns the quotas of callers.
     *
     * @return the quotas
     */
    public CallerQuotas quotas() {
        return quotas;
    }

    /**
     * Returns the operations for operators.
     *
     * @return the operations
     */
    public Operations operations() {
        return operations;
    }

    /**
     * Checks the first policies against the started application.
     *
     * @param view what the host knows of the application
     * @return the warnings about policies that do not fit the application
     */
    public List<Message> warnings(ApplicationView view) {
        List<Message> warnings = new ArrayList<>();
        if (assembly.settings().enabled()) {
            Platform platform = assembly.platform();
            warnings.addAll(
                    new ApplicationWarnings(loaded.snapshot().policies(), policiesOfEndpoints(), loaded.config(), view)
                            .all(platform.environmentVariables()));
            assembly.plugins().forEach(plugin -> warnings.addAll(plugin.warnings(loaded.snapshot(), view)));
        }
        return warnings;
    }

    private Set<String> policiesOfEndpoints() {
        return assembly.plugins().stream()
                .flatMap(plugin -> plugin.endpoints().stream())
                .flatMap(endpoint -> endpoint.policies().stream())
                .collect(Collectors.toSet());
    }
}
