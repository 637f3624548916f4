// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.instance.ApplicationWarnings;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.instance.InstanceName;
import io.weir.ratelimit.core.instance.StartSummary;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.metrics.Meters;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.policy.Bypass;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.EdgeReceipts;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The assembled limiter of one application, as its host and its plug-ins see it. It is created once, started and closed. A program in
 * plain Java sees a {@link Weir}.
 */
public final class HostedWeir implements AutoCloseable {
    /** The header field of a receipt that the edge gives to applications. */
    public static final String RECEIPT_FIELD = "Weir-Receipt";

    private final Assembly assembly;
    private final PolicyParts loaded;
    private final EngineParts parts;
    private final Telemetry telemetry;
    private List<TaskTimer> timers = List.of();
    private final RateLimiter limiter;
    private final CallerQuotas quotas;
    private final InstanceCallers callers;
    private final @Nullable EdgeReceipts receipts;

    HostedWeir(Assembly assembly, PolicyParts loaded, EngineParts parts, Telemetry telemetry) {
        this.assembly = assembly;
        this.loaded = loaded;
        this.parts = parts;
        this.telemetry = telemetry;
        this.receipts = assembly.receipts(telemetry);
        Supplier<Map<String, Policy>> policies = () -> policies().policies();
        this.limiter = new EngineRateLimiter(
                parts.engine(),
                policies,
                assembly.executor(),
                () -> currentRequest().map(RequestState::caller));
        this.quotas = parts.factory()
                .quotas(
                        parts.engine(),
                        policies,
                        loaded.loader().policiesWithoutMethods(),
                        loaded.lookups().resolvers().keyTerms());
        EngineParts.KnownKeys known = parts.known();
        this.callers = new InstanceCallers(policies, parts.keys(), known.topKeys(), known.blocks(), assembly.masker());
    }

    /**
     * Creates the limiter of a host. It decides from now on; {@link #start} starts its repeated tasks.
     *
     * @param platform what the host provides
     * @return the limiter
     * @throws InvalidConfigurationException if the configuration is invalid, with all problems
     */
    public static HostedWeir on(Platform platform) {
        return new Assembly(platform).weir();
    }

    /**
     * Returns the name of this instance on its host, as the start summary has it.
     *
     * @return a text such as {@code 4711-3f2a}
     */
    public static String instanceName() {
        return InstanceName.own().toString();
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

    /**
     * Cancels the calls that wait, and refunds their permits. A wait of a thread ends with a {@link
     * java.util.concurrent.CancellationException}.
     */
    public void endWaits() {
        parts.engine().stop();
    }

    /** Ends the waits, the repeated tasks, the look-ups and the gauges. */
    @Override
    public void close() {
        endWaits();
        timers.forEach(TaskTimer::stop);
        assembly.lookupThreads().stop();
        telemetry.meters().ifPresent(Meters::close);
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
                assembly.environment().clock(),
                receipts);
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
     * Returns the engine, for calls that no request enters.
     *
     * @return the engine
     */
    public RateLimitEngine engine() {
        return parts.engine();
    }

    /**
     * Tests whether a call that enters no gate bypasses the limits.
     *
     * @param call the properties of the call
     * @return true if a bypass token, the client address or a role exempts the call
     */
    public boolean bypasses(CallContext call) {
        Bypass bypass = policies().bypass();
        return !bypass.isEmpty()
                && bypass.appliesTo(call, () -> loaded.lookups().addresses().of(call.peerAddress(), call::headerLines));
    }

    /**
     * Returns a receipt of what decisions have spent, and moves it out of their receipts, so that only the application can settle it.
     *
     * @param decisions the decisions on one request
     * @return the value of the {@linkplain #RECEIPT_FIELD field}; empty if they have spent nothing, or if receipts are disabled
     */
    public Optional<String> receipt(Stream<Decision> decisions) {
        return receipts == null
                ? Optional.empty()
                : receipts.issue(decisions
                        .map(Decision::receipt)
                        .distinct()
                        .filter(BackendReceipt.class::isInstance)
                        .flatMap(spent -> ((BackendReceipt) spent).claim().stream())
                        .toList());
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
     * Returns the policies in force.
     *
     * @return the policies
     */
    public PolicySnapshot policies() {
        return parts.policies().get();
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
     * Returns the number of instances, which failure modes use.
     *
     * @return the configured number, or the learned one; 1 if it is unknown
     */
    public int instances() {
        return parts.factory().instances().getAsInt();
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
     * Returns the operations on callers.
     *
     * @return the operations
     */
    public InstanceCallers callers() {
        return callers;
    }

    /**
     * Returns the selected backend.
     *
     * @return the backend
     */
    public RateLimitBackend backend() {
        return loaded.backend();
    }

    /**
     * Returns the reload of the policies, which also applies layers over the configuration.
     *
     * @return the reload
     */
    public Reload reload() {
        return parts.reload();
    }

    /**
     * Returns the limits of single keys.
     *
     * @return the limits
     */
    public Overrides overrides() {
        return parts.known().overrides();
    }

    /**
     * Returns the results of reading the configuration.
     *
     * @return the results
     */
    public Readings readings() {
        return parts.readings();
    }

    /**
     * Returns the limits of the methods of beans and of the other endpoints.
     *
     * @return the limits
     */
    public List<MethodLimits> methods() {
        return loaded.loader().methods();
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
    public List<MessageCatalog.Message> warnings(ApplicationView view) {
        List<MessageCatalog.Message> warnings = new ArrayList<>();
        if (assembly.settings().enabled()) {
            Platform platform = assembly.platform();
            warnings.addAll(new ApplicationWarnings(loaded.snapshot().policies(), endpoints(), loaded.config(), view)
                    .all(platform.environmentVariables()));
            assembly.plugins().forEach(plugin -> warnings.addAll(plugin.warnings(loaded.snapshot(), view)));
        }
        return warnings;
    }

    private List<MethodLimits> endpoints() {
        return assembly.plugins().stream()
                .flatMap(plugin -> plugin.endpoints().stream())
                .toList();
    }
}
