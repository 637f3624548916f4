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
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.operations.Access;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.operations.InstanceOperations;
import io.weir.ratelimit.core.operations.KnownPolicies;
import io.weir.ratelimit.core.operations.Readings;
import io.weir.ratelimit.core.operations.RepeatedTask;
import io.weir.ratelimit.core.outgoing.ClientReader;
import io.weir.ratelimit.core.outgoing.OutgoingCalls;
import io.weir.ratelimit.core.outgoing.OutgoingClient;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.interceptor.telemetry.NearLimitReport;
import io.weir.ratelimit.interceptor.telemetry.RejectedKeysLog;
import io.weir.ratelimit.interceptor.telemetry.Telemetry;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.spi.DeploymentException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** Creates the parts of one deployment from its configuration, annotations and beans. */
final class Deployment {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final ApplicationBeans beans;
    private final Problems problems;
    private final Config serverConfig = serverConfig();
    private final CurrentConfig current = CurrentConfig.of(serverConfig);
    private final ConfigProperties config = current.first();
    private final Settings settings;
    private final KeyMasker masker;
    private final EngineEnvironment environment;
    private final Supplier<Executor> executor;
    private final LookupThreads lookups = new LookupThreads();

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
            Set<Class<?>> beanClasses,
            Set<Class<?>> managedBeans,
            MethodNames names,
            Map<String, String> annotatedClients) {
        ClientAddress addresses = new ClientAddress(settings.trustedProxies(), settings.forwardedHeader());
        LookupTimes times =
                new LookupTimes(settings.overrideLifetime(), settings.deadline(), environment.clock()::nanos);
        BoundedResolvers beanResolvers = new BoundedResolvers(
                new NamedResolvers(beans.manager(), problems), times, environment.lookUps(lookups));
        Map<String, KeyResolver> keyResolvers = beanResolvers.keys();
        Resolvers resolvers = new Resolvers(
                new KeyTerms(
                        settings.ipv4Prefix(),
                        settings.ipv6Prefix(),
                        addresses,
                        keyResolvers,
                        Claims.areAvailable(beans.manager())),
                beanResolvers.tiers());
        ConfigSnapshot loadedConfig = new ConfigSnapshot(config);
        Map<String, OutgoingClient> clients = ClientReader.read(loadedConfig, annotatedClients, keyResolvers, problems);
        OverrideSources sources = OverrideSources.of(beans.all(PolicySource.class), problems);
        RateLimitBackend backend = backend();
        PolicySnapshotLoader loader = PolicySnapshotLoader.of(
                        beanClasses, names, resolvers, sources.policies(), problems)
                .withManagedBeans(managedBeans)
                .withBackend(backend)
                .withClients(clients.values());
        PolicySnapshot snapshot = loader.load(loadedConfig, problems);
        CdiEvents events = new CdiEvents(beans.manager());
        Telemetry telemetry = telemetry(backend, events);
        beanResolvers.listener(telemetry.resolvers());
        Optional<RejectionResponder> responder = beans.responder(problems);
        Overrides overrides = new Overrides(
                sources.checkedBy((policy, limits) -> loader.problemsOfKey(policy, limits, loadedConfig)),
                times,
                environment.lookUps(lookups),
                masker,
                telemetry.sources());
        EngineFactory engines = new EngineFactory(settings, environment, backend, telemetry, events, masker, executor);
        BackendHealth health = engines.health();
        TopKeysTracker topKeys = engines.topKeys();
        KnownBlocks blocks = new KnownBlocks(environment.clock()::nanos);
        RateLimitEngine engine = engines.engine(health, overrides, topKeys, blocks, beans.all(DecisionListener.class));
        CurrentPolicies policies = new CurrentPolicies(settings.enabled() ? snapshot : snapshot.disabled());
        Readings readings = new Readings(Clock.systemUTC());
        Reload reload = reload(loader, loadedConfig, snapshot, policies, topKeys, telemetry, readings);
        KeyAdministration keys = new KeyAdministration(engine, overrides);
        Optional<InstanceChanges> changes = Optional.empty();
        if (problems.found().isEmpty()) {
            engine.slots().listener(telemetry.slots(), snapshot.withSlots());
            start(backend, telemetry);
            changes = changes(backend, new DeploymentChanges(reload, policies, overrides, keys, blocks));
            report(backend, settings.enabled() ? policies.get() : snapshot, loader, sources);
            if (settings.enabled()) {
                List<Class<?>> others = names.ofOtherLoaders();
                if (others.size() > 1) {
                    MESSAGES.log(
                            LOG, "WEIR-037", others.stream().map(Class::getName).toList());
                }
                names.ambiguous().forEach((name, methods) -> MESSAGES.log(LOG, "WEIR-036", name, methods));
            }
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
        ConsoleSettings console = settings.console();
        return new DeployedApplication(
                gate,
                names,
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
                        environment.clock()::nanos,
                        environment.clock()::now),
                engines.quotas(engine, policies::policies, loader.policiesOfClientsOnly(), resolvers.keyTerms()),
                new InstanceOperations(
                        new Access(console.enabled(), console.role(), console.open()),
                        health,
                        new KnownPolicies(policies::policies, policies::origins, loader.methods()),
                        readings,
                        topKeys,
                        masker,
                        keys,
                        backend.capability(FleetStore.class),
                        console.grafana(),
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
                problems.found().isEmpty()
                        ? new RepeatedTasks(
                                        settings,
                                        reload,
                                        changes,
                                        new RejectedKeysLog(topKeys),
                                        new NearLimitReport(
                                                () -> policies.policies().keySet(), topKeys, telemetry.nearLimit()),
                                        beans.all(RepeatedTask.class))
                                .timers(environment.tasks())
                        : List.of(),
                new ResourceCheck(beanClasses, resolvers, sources.policies(), loadedConfig, settings),
                view -> settings.enabled()
                        ? Stream.concat(
                                        new ApplicationWarnings(
                                                        snapshot.policies(), policiesOf(clients), loadedConfig, view)
                                                        .all(EnvironmentVariables.of(
                                                                System.getenv().keySet(), serverConfig))
                                                        .stream(),
                                        new ClientWarnings(clients, annotatedClients.keySet(), loadedConfig)
                                                .all(snapshot, view).stream())
                                .toList()
                        : List.of());
    }

    private static Set<String> policiesOf(Map<String, OutgoingClient> clients) {
        return clients.values().stream()
                .flatMap(client -> client.policies().stream())
                .collect(Collectors.toSet());
    }

    private RateLimitBackend backend() {
        RateLimitBackend selected = new BackendSelector(
                        beans.all(RateLimitBackend.class),
                        environment.local(settings.localMaxKeys()),
                        environment,
                        config,
                        problems)
                .select(settings);
        return environment.backend(selected, settings.deadline());
    }

    private Telemetry telemetry(RateLimitBackend backend, CdiEvents events) {
        return settings.enabled()
                ? Telemetry.choose(
                        settings,
                        backend.name(),
                        beans,
                        Telemetry.Export.of(config),
                        events.rejectionObservers(),
                        masker,
                        problems)
                : Telemetry.NONE;
    }

    private static void start(RateLimitBackend backend, Telemetry telemetry) {
        PlatformTimer.start();
        telemetry.backend().ifPresent(backend::registerListener);
        backend.start();
    }

    private void report(
            RateLimitBackend backend, PolicySnapshot snapshot, PolicySnapshotLoader loader, OverrideSources sources) {
        new StartSummary(settings, snapshot, loader.methods())
                .message(backend.name(), config, current.withoutNames())
                .log(LOG);
        new StartWarnings(settings, config, snapshot)
                .all(backend.name(), loader.methods(), sources.policies())
                .forEach(warning -> warning.log(LOG));
        if (settings.enabled()) {
            StartWarnings.withoutNames(current.withoutNames(), config).forEach(warning -> warning.log(LOG));
        }
        if (environment.isControlledByClients()) {
            MESSAGES.log(LOG, "WEIR-611", "Weir-Test-Kit");
        }
    }

    private Reload reload(
            PolicySnapshotLoader loader,
            ConfigSnapshot loadedConfig,
            PolicySnapshot snapshot,
            CurrentPolicies policies,
            TopKeysTracker topKeys,
            Telemetry telemetry,
            Readings readings) {
        boolean reloads = settings.reloads() && problems.found().isEmpty();
        if (reloads) {
            current.difference().ifPresent(reason -> MESSAGES.log(LOG, "WEIR-311", reason));
        }
        return new Reload(
                loader,
                reloads ? current : () -> loadedConfig,
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
