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
import io.weir.ratelimit.core.key.KeyExpression;
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

    /** The number of addresses whose reads of the quota resource are counted. */
    private static final int MAX_QUOTA_READERS = 10_000;

    private final Assembly assembly;
    private final PolicyParts loaded;
    private final EngineParts parts;
    private final Telemetry telemetry;
    private List<TaskTimer> timers = List.of();
    private final RateLimiter limiter;
    private final CallerQuotas quotas;
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
        this.quotas = new CallerQuotas(
                parts.engine(),
                policies,
                loaded.loader().policiesWithoutMethods(),
                KeyExpression.parse("ip", loaded.lookups().resolvers().keyTerms())::resolve,
                parts.engine().encoder(),
                assembly.environment().local(MAX_QUOTA_READERS));
    }

    /**
     * Creates the limiter of a host. It decides from now on; {@link #start} starts its repeated tasks.
     *
     * @throws InvalidConfigurationException if the configuration is invalid, with all problems
     */
    public static HostedWeir on(Platform platform) {
        return new Assembly(platform).weir();
    }

    /** Returns the name of this instance on its host, such as {@code 4711-3f2a}, as the start summary has it. */
    public static String instanceName() {
        return InstanceName.own().toString();
    }

    void repeat(List<TaskTimer> tasks) {
        timers = List.copyOf(tasks);
    }

    /** Starts the repeated tasks, such as the reload of policies, with the context class loader of the application. */
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

    /** Returns the limiter for application code. */
    public RateLimiter limiter() {
        return limiter;
    }

    /** Returns the settings of the application. */
    public Settings settings() {
        return assembly.settings();
    }

    /** Creates the gate that requests and bean calls of a host enter. */
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

    /** Returns the configuration of the first policies. */
    public ConfigProperties configuration() {
        return loaded.config();
    }

    /** Returns the engine, for calls that no request enters. */
    public RateLimitEngine engine() {
        return parts.engine();
    }

    /** Tests whether a bypass token, the client address or a role exempts a call that enters no gate. */
    public boolean bypasses(CallContext call) {
        Bypass bypass = policies().bypass();
        return !bypass.isEmpty()
                && bypass.appliesTo(call, () -> loaded.lookups().addresses().of(call.peerAddress(), call::headerLines));
    }

    /**
     * Returns a receipt of what the decisions on one request have spent, as the value of the {@linkplain #RECEIPT_FIELD field}. Moves it
     * out of their receipts, so that only the application can settle it. Empty if they have spent nothing, or if receipts are disabled.
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

    /** Returns the clock of decisions. */
    public Sleeper clock() {
        return assembly.environment().clock();
    }

    /** Returns the policies in force. */
    public PolicySnapshot policies() {
        return parts.policies().get();
    }

    /** Returns the health of the backend. */
    public BackendHealth health() {
        return parts.health();
    }

    /** Returns the number of instances, configured or learned, which failure modes use; 1 if it is unknown. */
    public int instances() {
        return parts.instances().getAsInt();
    }

    /** Returns the listeners that measure and log. */
    public Telemetry telemetry() {
        return telemetry;
    }

    /** Returns a plug-in of this limiter. Throws an {@link IllegalStateException} if the limiter does not have it. */
    public <T extends Plugin> T plugin(Class<T> type) {
        return assembly.plugins().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no plug-in " + type.getName()));
    }

    /** Returns the request that the current thread serves, if any. */
    public Optional<RequestState> currentRequest() {
        return assembly.platform().currentRequest();
    }

    /** Returns the quotas of single callers. */
    public CallerQuotas quotas() {
        return quotas;
    }

    public InstanceCallers callers() {
        return parts.callers();
    }

    /** Returns the selected backend. */
    public RateLimitBackend backend() {
        return loaded.backend();
    }

    /** Returns the reload of the policies, which also applies layers over the configuration. */
    public Reload reload() {
        return parts.reload();
    }

    /** Returns the limits of single keys. */
    public Overrides overrides() {
        return parts.overrides();
    }

    /** Returns the results of reading the configuration. */
    public Readings readings() {
        return parts.readings();
    }

    /** Returns the limits of the methods of beans and of the other endpoints. */
    public List<MethodLimits> methods() {
        return loaded.loader().methods();
    }

    /**
     * Checks methods that the host has found after the limiter was created. Needs all methods, because a late one can define a policy that
     * another one names. Returns one line for each policy of the late methods; none if limits are disabled.
     *
     * @throws InvalidConfigurationException with all problems, also those of annotations
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

    /** Returns the warnings about first policies that do not fit the started application. */
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
