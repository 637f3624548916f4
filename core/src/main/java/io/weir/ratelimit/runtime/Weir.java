// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.changes.InstanceChanges;
import io.weir.ratelimit.core.changes.RuntimeChanges;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.instance.ApplicationWarnings;
import io.weir.ratelimit.core.instance.ClientWarnings;
import io.weir.ratelimit.core.instance.StartSummary;
import io.weir.ratelimit.core.instance.TaskTimer;
import io.weir.ratelimit.core.message.Message;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.operations.InstanceOperations;
import io.weir.ratelimit.core.operations.KnownPolicies;
import io.weir.ratelimit.core.operations.Operations;
import io.weir.ratelimit.core.outgoing.OutgoingCalls;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.core.snapshot.CurrentPolicies;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
    private final List<TaskTimer> timers;
    private final RateLimiter limiter;
    private final OutgoingCalls outgoing;
    private final CallerQuotas quotas;
    private final Operations operations;

    Weir(
            Assembly assembly,
            PolicyParts loaded,
            EngineParts parts,
            Telemetry telemetry,
            Optional<InstanceChanges> changes,
            List<TaskTimer> timers) {
        this.assembly = assembly;
        this.loaded = loaded;
        this.parts = parts;
        this.telemetry = telemetry;
        this.timers = List.copyOf(timers);
        CurrentPolicies policies = parts.policies();
        this.limiter = new EngineRateLimiter(
                parts.engine(), policies::policies, assembly.executor(), assembly.platform()::currentCall);
        this.outgoing = new OutgoingCalls(
                assembly.settings().enabled(),
                loaded.clients(),
                policies::policies,
                parts.engine(),
                limiter,
                telemetry.outgoing(),
                assembly.environment().clock()::nanos,
                assembly.environment().clock()::now);
        this.quotas = parts.factory()
                .quotas(
                        parts.engine(),
                        policies::policies,
                        loaded.loader().policiesOfClientsOnly(),
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
                new InstanceOperations.Backend(parts.health(), loaded.backend().capability(FleetStore.class)),
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
     * Creates the gate that requests and bean calls of a host enter.
     *
     * @param requests the requests of the host
     * @return the gate
     */
    public RateLimitGate gate(Requests requests) {
        return new RateLimitGate(
                parts.engine(),
                parts.policies(),
                loaded.lookups().addresses(),
                requests,
                assembly.executor(),
                assembly.environment().clock());
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
     * Returns the path of the calls of REST clients.
     *
     * @return the outgoing calls
     */
    public OutgoingCalls outgoing() {
        return outgoing;
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
     * Checks methods that the host has found after the limiter was created.
     *
     * @param all all methods, because a late one can define a policy that another one names
     * @param late the methods found now
     * @param problems the problems of their annotations
     * @return one line for each policy of the late methods; empty if limits are disabled
     * @throws InvalidConfigurationException with all problems
     */
    public List<String> check(AnnotatedMethods all, AnnotatedMethods late, Problems problems) {
        PolicySnapshot snapshot = loader(all).load(loaded.config(), problems);
        if (!problems.found().isEmpty()) {
            throw new InvalidConfigurationException(problems);
        }
        List<MethodLimits> found = loader(late).methods();
        return assembly.settings().enabled() && !found.isEmpty()
                ? new StartSummary(assembly.settings(), snapshot, found).policiesOfMethods()
                : List.of();
    }

    private PolicySnapshotLoader loader(AnnotatedMethods methods) {
        return new PolicySnapshotLoader(
                methods.methods(),
                methods.scanner(),
                loaded.lookups().resolvers(),
                loaded.lookups().sources().policies());
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
            warnings.addAll(new ApplicationWarnings(
                            loaded.snapshot().policies(), loaded.policiesOfClients(), loaded.config(), view)
                    .all(platform.environmentVariables()));
            warnings.addAll(new ClientWarnings(
                            loaded.clients(), platform.annotatedClients().keySet(), loaded.config())
                    .all(loaded.snapshot(), view));
        }
        return warnings;
    }
}
