// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.changes.ChangeAudit;
import io.weir.ratelimit.core.changes.ChangeCodec;
import io.weir.ratelimit.core.changes.InstanceChanges;
import io.weir.ratelimit.core.changes.RuntimeChanges;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.ConsoleSettings;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.BackendHealth;
import io.weir.ratelimit.core.engine.BackendStateListener;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.FailureModes;
import io.weir.ratelimit.core.engine.FallbackBackend;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.engine.KnownBlocks;
import io.weir.ratelimit.core.engine.Penalties;
import io.weir.ratelimit.core.engine.QuotaThresholds;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.engine.RequestState;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.operations.Access;
import io.weir.ratelimit.core.operations.InstanceOperations;
import io.weir.ratelimit.core.operations.KnownPolicies;
import io.weir.ratelimit.core.operations.Readings;
import io.weir.ratelimit.core.operations.RepeatedTask;
import io.weir.ratelimit.core.outgoing.ClientReader;
import io.weir.ratelimit.core.outgoing.OutgoingCalls;
import io.weir.ratelimit.core.outgoing.OutgoingClient;
import io.weir.ratelimit.core.policy.BoundedKeyResolver;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.policy.SourceListener;
import io.weir.ratelimit.core.policy.TierLookups;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.interceptor.telemetry.RejectedKeysLog;
import io.weir.ratelimit.interceptor.telemetry.Telemetry;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.spi.DeploymentException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** Creates the parts of one deployment from its configuration, annotations and beans. */
final class Deployment {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    /** The number of addresses whose reads of the quota resource are counted. */
    private static final int MAX_QUOTA_READERS = 10_000;

    private static final long NEAR_LIMIT_INTERVAL_MICROS = TimeUnit.MINUTES.toMicros(1);

    /** The interval at which the runtime changes are read. A change applies everywhere within a second. */
    private static final long CHANGES_INTERVAL_MICROS = TimeUnit.MILLISECONDS.toMicros(400);

    private final ApplicationBeans beans;
    private final Problems problems;
    private final Config serverConfig = serverConfig();
    private final ConfigProperties config = new MicroProfileProperties(serverConfig);
    private final Settings settings;
    private final KeyMasker masker;
    private final EngineEnvironment environment;
    private final Supplier<Executor> executor;
    private final LookupThreads lookups = new LookupThreads();

    /** The listener of resolvers, which exist before the telemetry. */
    private ResolverListener resolverListener = Telemetry.NONE.resolvers();

    Deployment(RateLimitBeans beans, Problems problems) {
        this.beans = new ApplicationBeans(beans);
        this.problems = problems;
        this.settings = Settings.read(config, problems);
        // An initializer of the container reads the path, and reports no problem.
        new ConfigReader(config, problems).optional(ConfigKeys.QUOTA_PATH);
        this.masker = new KeyMasker(settings.keySecret());
        this.environment =
                this.beans.all(EngineEnvironment.class).stream().findFirst().orElse(EngineEnvironment.REAL);
        this.executor = environment.executor(new ContainerExecutor());
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

    /** Creates the application. It starts only if there are no problems. */
    DeployedApplication create(
            Set<Class<?>> beanClasses, Set<Class<?>> managedBeans, Map<String, String> annotatedClients) {
        ClientAddress addresses = new ClientAddress(settings.trustedProxies(), settings.forwardedHeader());
        Map<String, KeyResolver> keyResolvers = keyResolvers();
        Resolvers resolvers = resolvers(addresses, keyResolvers);
        ConfigSnapshot loadedConfig = new ConfigSnapshot(config);
        Map<String, OutgoingClient> clients = ClientReader.read(loadedConfig, annotatedClients, keyResolvers, problems);
        OverrideSources sources = OverrideSources.of(beans.all(PolicySource.class), problems);
        RateLimitBackend backend = environment.backend(
                new BackendSelector(
                                beans.all(RateLimitBackend.class),
                                environment.local(settings.localMaxKeys()),
                                config,
                                problems)
                        .select(settings),
                settings.deadline());
        PolicySnapshotLoader loader = PolicySnapshotLoader.of(beanClasses, resolvers, sources.policies(), problems)
                .withManagedBeans(managedBeans)
                .withBackend(backend)
                .withClients(clients.values());
        PolicySnapshot snapshot = loader.load(loadedConfig, problems);
        CdiEvents events = new CdiEvents(beans.manager());
        Telemetry telemetry = telemetry(backend, events);
        resolverListener = telemetry.resolvers();
        Optional<RejectionResponder> responder = beans.responder(problems);
        Overrides overrides = overrides(
                sources.checkedBy((policy, limits) -> loader.problemsOfKey(policy, limits, loadedConfig)), telemetry);
        TopKeysTracker topKeys =
                settings.enabled() ? new TopKeysTracker(masker, environment.clock()::nanos) : TopKeysTracker.NONE;
        BackendHealth health = health(backend, telemetry, events);
        KnownBlocks blocks = new KnownBlocks(environment.clock()::nanos);
        RateLimitEngine engine = engine(
                backend,
                health,
                telemetry,
                overrides,
                topKeys,
                thresholds(backend, events),
                penalties(backend, telemetry, events, blocks));
        CurrentPolicies policies = new CurrentPolicies(settings.enabled() ? snapshot : snapshot.disabled());
        Readings readings = new Readings(Clock.systemUTC());
        Reload reload = reload(loader, loadedConfig, snapshot, policies, topKeys, telemetry, readings);
        KeyAdministration keys = new KeyAdministration(engine, overrides);
        Optional<InstanceChanges> changes = Optional.empty();
        if (problems.found().isEmpty()) {
            engine.slots().listener(telemetry.slots(), withSlots(snapshot));
            start(backend, telemetry);
            changes = changes(backend, new DeploymentChanges(reload, policies, overrides, keys, blocks));
            report(backend, settings.enabled() ? policies.get() : snapshot, loader, sources);
        }
        RateLimitGate gate = new RateLimitGate(
                engine,
                policies,
                addresses,
                new RequestStates(beans.manager()),
                executor,
                environment.clock(),
                beanClasses::contains);
        EngineRateLimiter limiter = new EngineRateLimiter(
                engine, policies::policies, executor, () -> gate.current().map(RequestState::caller));
        return new DeployedApplication(
                gate,
                engine::stop,
                health,
                limiter,
                new OutgoingCalls(
                        settings.enabled(),
                        clients,
                        policies::policies,
                        engine,
                        limiter,
                        telemetry.outgoing(),
                        System::nanoTime,
                        Clock.systemUTC()),
                quotas(engine, policies, resolvers),
                new InstanceOperations(
                        access(settings.console()),
                        health,
                        new KnownPolicies(policies::policies, policies::origins, loader.methods()),
                        readings,
                        topKeys,
                        masker,
                        keys,
                        backend.fleetStore(),
                        settings.console().grafana(),
                        changes.map(RuntimeChanges.class::cast),
                        settings.changes()
                                .role()
                                .filter(role -> settings.changes().enabled()),
                        engine.slots(),
                        blocks),
                settings.headers(),
                responder,
                telemetry.spans(),
                policies,
                executor,
                lookups,
                timers(
                        reload,
                        changes,
                        topKeys,
                        () -> telemetry.nearLimit().accept(longestNearLimit(policies, topKeys))),
                new ResourceCheck(beanClasses, resolvers, sources.policies(), loadedConfig, settings),
                view -> settings.enabled()
                        ? new ApplicationWarnings(snapshot.policies(), policiesOf(clients), loadedConfig, view)
                                .all(EnvironmentVariables.of(System.getenv().keySet(), serverConfig))
                        : List.of());
    }

    private List<String> withSlots(PolicySnapshot snapshot) {
        return settings.enabled()
                ? snapshot.policies().values().stream()
                        .filter(Policy::hasConcurrency)
                        .map(Policy::name)
                        .toList()
                : List.of();
    }

    private static Set<String> policiesOf(Map<String, OutgoingClient> clients) {
        return clients.values().stream()
                .flatMap(client -> client.policies().stream())
                .collect(Collectors.toSet());
    }

    private LookupTimes lookupTimes() {
        return new LookupTimes(settings.overrideLifetime(), settings.deadline(), environment.clock()::nanos);
    }

    private void resolverFailed(ResolverListener.Kind kind, String resolver, SourceListener.Failure failure) {
        resolverListener.failed(kind, resolver, failure);
    }

    private Map<String, KeyResolver> keyResolvers() {
        Map<String, KeyResolver> keys = new HashMap<>();
        new NamedResolvers(beans.manager(), problems)
                .keyResolvers()
                .forEach((name, bean) ->
                        keys.put(name, new BoundedKeyResolver(name, bean, lookupTimes(), this::resolverFailed)));
        return keys;
    }

    private Resolvers resolvers(ClientAddress clients, Map<String, KeyResolver> keys) {
        Map<String, TierSelector> tiers = new HashMap<>();
        new NamedResolvers(beans.manager(), problems)
                .tierResolvers()
                .forEach((name, bean) -> tiers.put(
                        name,
                        new TierLookups(
                                name, bean, lookupTimes(), environment.lookUps(lookups), this::resolverFailed)));
        KeyTerms terms =
                new KeyTerms(settings.ipv4Prefix(), settings.ipv6Prefix(), clients, keys, Claims.areAvailable());
        return new Resolvers(terms, tiers);
    }

    private Telemetry telemetry(RateLimitBackend backend, CdiEvents events) {
        return settings.enabled()
                ? Telemetry.choose(
                        settings, backend.name(), beans, export(), events.rejectionObservers(), masker, problems)
                : Telemetry.NONE;
    }

    /** Returns what MicroProfile Telemetry exports, by default nothing. */
    private Telemetry.Export export() {
        if (!isSet("otel.sdk.disabled", "false")) {
            return Telemetry.Export.NOTHING;
        }
        return isSet("otel.metrics.exporter", "none") ? Telemetry.Export.SPANS : Telemetry.Export.METRICS;
    }

    private boolean isSet(String property, String expected) {
        return config.get(property).value().filter(expected::equalsIgnoreCase).isPresent();
    }

    private Overrides overrides(OverrideSources sources, Telemetry telemetry) {
        return new Overrides(
                sources,
                new LookupTimes(settings.overrideLifetime(), settings.deadline(), environment.clock()::nanos),
                environment.lookUps(lookups),
                masker,
                telemetry.sources());
    }

    private BackendHealth health(RateLimitBackend backend, Telemetry telemetry, CdiEvents events) {
        List<BackendStateListener> listeners = new ArrayList<>(telemetry.backendStateListeners());
        listeners.addAll(events.backendObservers());
        return new BackendHealth(
                backend, settings.enabled(), settings.failsWhenDegraded(), environment.clock()::nanos, listeners);
    }

    private RateLimitEngine engine(
            RateLimitBackend backend,
            BackendHealth health,
            Telemetry telemetry,
            Overrides overrides,
            TopKeysTracker topKeys,
            QuotaThresholds thresholds,
            Penalties penalties) {
        FailureModes failureModes = new FailureModes(
                settings.instances(), () -> environment.local(settings.localMaxKeys()), environment.random());
        List<DecisionListener> listeners = new ArrayList<>(telemetry.listeners());
        listeners.addAll(beans.all(DecisionListener.class));
        return new RateLimitEngine(
                new FallbackBackend(backend, failureModes, health, settings.deadline()),
                new IdentityEncoder(settings.keySecret()),
                listeners,
                environment.clock(),
                overrides,
                topKeys,
                thresholds,
                penalties);
    }

    private Penalties penalties(RateLimitBackend backend, Telemetry telemetry, CdiEvents events, KnownBlocks blocks) {
        return new Penalties(
                backend,
                masker,
                executor,
                telemetry.penalties(),
                settings.enabled() ? events.penaltyObservers() : List.of(),
                blocks);
    }

    private QuotaThresholds thresholds(RateLimitBackend backend, CdiEvents events) {
        return new QuotaThresholds(
                backend,
                new IdentityEncoder(settings.keySecret()),
                masker,
                executor,
                () -> environment.clock().epochMillis() * 1_000,
                settings.enabled() ? events.thresholdObservers() : List.of());
    }

    private CallerQuotas quotas(RateLimitEngine engine, CurrentPolicies policies, Resolvers resolvers) {
        return new CallerQuotas(
                engine,
                policies::policies,
                KeyExpression.parse("ip", resolvers.keyTerms())::resolve,
                new IdentityEncoder(settings.keySecret()),
                environment.local(MAX_QUOTA_READERS));
    }

    private static void start(RateLimitBackend backend, Telemetry telemetry) {
        PlatformTimer.start();
        telemetry.backend().ifPresent(backend::registerListener);
        backend.start();
    }

    private void report(
            RateLimitBackend backend, PolicySnapshot snapshot, PolicySnapshotLoader loader, OverrideSources sources) {
        new StartSummary(settings, snapshot, loader.methods())
                .message(backend.name(), config)
                .log(LOG);
        new StartWarnings(settings, config, snapshot)
                .all(backend.name(), loader.methods(), sources.policies())
                .forEach(warning -> warning.log(LOG));
        if (environment != EngineEnvironment.REAL) {
            MESSAGES.log(LOG, "WEIR-611");
        }
    }

    private static Access access(ConsoleSettings console) {
        return new Access(console.enabled(), console.role(), console.open());
    }

    /** Returns the timers of the application. It has none if it does not start. */
    private List<TaskTimer> timers(
            Reload reload, Optional<InstanceChanges> changes, TopKeysTracker topKeys, Runnable nearLimits) {
        List<TaskTimer> timers = new ArrayList<>();
        if (settings.reloads() && problems.found().isEmpty()) {
            timers.add(
                    new TaskTimer(environment.tasks(), settings.reloadInterval().toMillis() * 1_000, reload));
        }
        changes.ifPresent(task -> timers.add(new TaskTimer(environment.tasks(), CHANGES_INTERVAL_MICROS, task)));
        if (settings.enabled() && problems.found().isEmpty()) {
            timers.add(
                    new TaskTimer(environment.tasks(), RejectedKeysLog.INTERVAL_MICROS, new RejectedKeysLog(topKeys)));
            nearLimits.run();
            timers.add(new TaskTimer(environment.tasks(), NEAR_LIMIT_INTERVAL_MICROS, nearLimits));
            beans.all(RepeatedTask.class)
                    .forEach(task -> timers.add(
                            new TaskTimer(environment.tasks(), task.interval().toMillis() * 1_000, task)));
        }
        return timers;
    }

    private static Map<String, Duration> longestNearLimit(CurrentPolicies policies, TopKeysTracker topKeys) {
        Map<String, Duration> longest = new HashMap<>();
        policies.policies().keySet().forEach(policy -> longest.put(policy, topKeys.longestNearLimit(policy)));
        return longest;
    }

    private Reload reload(
            PolicySnapshotLoader loader,
            ConfigSnapshot loadedConfig,
            PolicySnapshot snapshot,
            CurrentPolicies policies,
            TopKeysTracker topKeys,
            Telemetry telemetry,
            Readings readings) {
        return new Reload(
                loader,
                settings.reloads() && problems.found().isEmpty()
                        ? CurrentConfig.of(serverConfig, loadedConfig)
                        : () -> loadedConfig,
                loadedConfig,
                snapshot,
                next -> {
                    policies.replace(next);
                    topKeys.retain(next.policies().keySet());
                },
                telemetry.reloads(),
                readings);
    }

    /** Reads the runtime changes before the first request. Returns nothing if changes are not enabled. */
    private Optional<InstanceChanges> changes(RateLimitBackend backend, DeploymentChanges changes) {
        if (!settings.enabled() || !settings.changes().enabled()) {
            return Optional.empty();
        }
        ChangeCodec codec = new ChangeCodec(
                new ConfigReader(config, new Problems()).value(ConfigKeys.NAMESPACE), settings.keySecret());
        return Optional.of(changes.start(
                backend, codec, new ChangeAudit(masker), environment.clock()::nanos, settings.deadline()));
    }
}
