// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.instance.BackendSelector;
import io.weir.ratelimit.core.instance.BoundedResolvers;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.instance.PlatformTimer;
import io.weir.ratelimit.core.instance.StartSummary;
import io.weir.ratelimit.core.instance.StartWarnings;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.metrics.NearLimitReport;
import io.weir.ratelimit.core.metrics.PenaltyLog;
import io.weir.ratelimit.core.metrics.ReceiptMetrics;
import io.weir.ratelimit.core.metrics.RejectedKeysLog;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.EdgeReceipts;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TierResolver;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts the parts of one application together. All problems are found before the first part is started. */
final class Assembly {
    private final Problems problems = new Problems();
    private final Platform platform;
    private final Plugins plugins;
    private final ConfigProperties.Sources sources;
    private final ConfigProperties config;
    private final Settings settings;
    private final boolean receipts;
    private final KeyMasker masker;
    private final EngineEnvironment environment;
    private final Supplier<Executor> executor;
    private final LookupThreads lookupThreads;

    Assembly(Platform platform) {
        this.platform = platform;
        this.plugins = Plugins.of(platform);
        this.sources = plugins.all().isEmpty()
                ? platform.properties()
                : new LayeredSources(platform.properties(), plugins.all());
        this.config = sources.first();
        this.settings = Settings.read(config, problems);
        // An initializer of a container reads the path, and reports no problem.
        new ConfigReader(config, problems).optional(ConfigKeys.QUOTA_PATH);
        this.receipts = new ConfigReader(config, problems).value(ConfigKeys.RECEIPTS);
        if (receipts && settings.keySecret().isEmpty()) {
            problems.add(MESSAGES.problem("WEIR-730", ConfigKeys.RECEIPTS.name(), "true"));
        }
        this.masker = new KeyMasker(settings.keySecret());
        this.environment = platform.environment();
        this.executor = environment.executor(platform.executor());
        this.lookupThreads = new LookupThreads(platform::lookupThreads);
    }

    Platform platform() {
        return platform;
    }

    List<Plugin> plugins() {
        return plugins.all();
    }

    Settings settings() {
        return settings;
    }

    EngineEnvironment environment() {
        return environment;
    }

    Supplier<Executor> executor() {
        return executor;
    }

    LookupThreads lookupThreads() {
        return lookupThreads;
    }

    /** Returns the receipts of the edge, null unless they are enabled. */
    @Nullable
    EdgeReceipts receipts(Telemetry telemetry) {
        return receipts && settings.keySecret().isPresent()
                ? new EdgeReceipts(
                        new ConfigReader(config, new Problems()).value(ConfigKeys.NAMESPACE),
                        settings.keySecret().get(),
                        environment.clock()::now,
                        new ReceiptMetrics(telemetry.meters(), environment.clock()::nanos))
                : null;
    }

    /** Creates the parts, and starts the backend. Throws an {@link InvalidConfigurationException} with all problems. */
    HostedWeir weir() {
        PolicyParts loaded = load();
        Telemetry telemetry = settings.enabled()
                ? platform.telemetry(settings, loaded.backend().name(), masker, problems)
                : Telemetry.NONE;
        platform.check(problems);
        if (!problems.found().isEmpty()) {
            throw new InvalidConfigurationException(problems);
        }
        loaded.lookups().bounded().listener(telemetry.resolvers());
        EngineParts parts = engine(loaded, telemetry);
        parts.engine()
                .ends()
                .slots()
                .listener(telemetry.slots(), loaded.snapshot().withSlots());
        PlatformTimer.start();
        telemetry.backend().ifPresent(loaded.backend()::registerListener);
        loaded.backend().start();
        HostedWeir weir = new HostedWeir(this, loaded, parts, telemetry);
        plugins.all().forEach(plugin -> plugin.start(weir));
        report(loaded, parts);
        weir.repeat(timers(parts, telemetry));
        return weir;
    }

    private PolicyParts load() {
        PolicyParts.Lookups lookups = lookups();
        ConfigSnapshot loadedConfig = new ConfigSnapshot(config);
        plugins.checkAbsent(loadedConfig, platform.environmentVariables(), problems);
        Preparation preparation = new Preparation(
                loadedConfig, settings, platform, lookups.bounded().keys(), problems);
        plugins.all().forEach(plugin -> plugin.prepare(preparation));
        OverrideSources overrides = OverrideSources.of(platform.all(PolicySource.class), problems);
        RateLimitBackend backend = backend();
        AnnotatedMethods methods = platform.methods(problems);
        PolicySnapshotLoader loader = new PolicySnapshotLoader(
                        methods.methods(), methods.scanner(), lookups.resolvers(), overrides.policies())
                .withManagedBeans(methods.managed())
                .withBackend(backend)
                .withEndpoints(plugins.endpoints(), plugins::check);
        PolicySnapshot snapshot = loader.load(loadedConfig, problems);
        return new PolicyParts(loadedConfig, lookups.with(overrides), backend, loader, snapshot);
    }

    private PolicyParts.Lookups lookups() {
        ClientAddress addresses =
                new ClientAddress(settings.trustedProxies(), settings.forwardedHeader(), platform.hasForwardedPeers());
        LookupTimes times =
                new LookupTimes(settings.overrideLifetime(), settings.deadline(), environment.clock()::nanos);
        BoundedResolvers bounded = new BoundedResolvers(
                platform.named(KeyResolver.class, problems),
                platform.named(TierResolver.class, problems),
                times,
                environment.lookUps(lookupThreads));
        Map<String, KeyResolver> keys = bounded.keys();
        KeyTerms terms =
                new KeyTerms(settings.ipv4Prefix(), settings.ipv6Prefix(), addresses, keys, platform.hasClaims());
        return new PolicyParts.Lookups(
                addresses, times, bounded, new Resolvers(terms, bounded.tiers()), OverrideSources.NONE);
    }

    private RateLimitBackend backend() {
        RateLimitBackend selected = new BackendSelector(
                        platform.all(RateLimitBackend.class),
                        environment.local(settings.localMaxKeys()),
                        environment,
                        config,
                        problems)
                .select(settings);
        return environment.backend(selected, settings.deadline());
    }

    private EngineParts engine(PolicyParts loaded, Telemetry telemetry) {
        OverrideSources checked = loaded.lookups()
                .sources()
                .checkedBy((policy, limits) -> loaded.loader().problemsOfKey(policy, limits, loaded.config()));
        Overrides overrides = new Overrides(
                checked, loaded.lookups().times(), environment.lookUps(lookupThreads), masker, telemetry.sources());
        Optional<LiveInstances> live = settings.instances().isPresent()
                ? Optional.empty()
                : loaded.backend().capability(FleetStore.Presence.class).map(LiveInstances::new);
        IntSupplier instances =
                live.isPresent() ? live.get() : () -> settings.instances().orElse(1);
        BackendHealth health = health(loaded.backend(), telemetry);
        TopKeysTracker topKeys =
                settings.enabled() ? new TopKeysTracker(masker, environment.clock()::nanos) : TopKeysTracker.NONE;
        KnownBlocks blocks = new KnownBlocks(environment.clock()::nanos);
        FailureModes failureModes =
                new FailureModes(instances, () -> environment.local(settings.localMaxKeys()), environment.random());
        QuotaThresholds thresholds = thresholds(loaded.backend());
        environment.resets(health::reset, thresholds::reset);
        RateLimitEngine engine = RateLimitEngine.on(
                        new FallbackBackend(loaded.backend(), failureModes, health, settings.deadline()))
                .encoder(new IdentityEncoder(settings.keySecret()))
                .listeners(listeners(telemetry))
                .clock(environment.clock())
                .overrides(overrides)
                .topKeys(topKeys)
                .thresholds(thresholds)
                .rejections(new Penalties(
                        loaded.backend(),
                        masker,
                        executor,
                        PenaltyLog.withMetrics(telemetry.meters()),
                        observers(PenaltyImposed.class),
                        blocks))
                .build();
        AtomicReference<PolicySnapshot> policies = new AtomicReference<>(
                settings.enabled() ? loaded.snapshot() : loaded.snapshot().disabled());
        Supplier<PolicySnapshot> current = policies::get;
        Readings readings = new Readings(Clock.systemUTC());
        return new EngineParts(
                engine,
                health,
                overrides,
                new InstanceCallers(() -> current.get().policies(), engine.keys(), topKeys, blocks, masker),
                current,
                reload(loaded, policies, topKeys, telemetry, readings),
                readings,
                live,
                instances);
    }

    private BackendHealth health(RateLimitBackend backend, Telemetry telemetry) {
        List<BackendStateListener> observers = new ArrayList<>(telemetry.backendStateListeners());
        platform.observers(BackendStateChanged.class)
                .forEach(observer -> observers.add(BackendStateListener.ofChanges(observer)));
        return new BackendHealth(
                backend, settings.enabled(), settings.failsWhenDegraded(), environment.clock()::nanos, observers);
    }

    private QuotaThresholds thresholds(RateLimitBackend backend) {
        return new QuotaThresholds(
                backend,
                new IdentityEncoder(settings.keySecret()),
                masker,
                executor,
                () -> environment.clock().epochMillis() * 1_000,
                observers(QuotaThresholdReached.class));
    }

    /** Returns the observers of events that only enabled limits cause. */
    private <E> List<Consumer<E>> observers(Class<E> event) {
        return settings.enabled() ? platform.observers(event) : List.of();
    }

    private List<DecisionListener> listeners(Telemetry telemetry) {
        return Stream.of(
                        telemetry.listeners().stream(),
                        platform.all(DecisionListener.class).stream(),
                        plugins.all().stream().flatMap(plugin -> plugin.listeners().stream()))
                .<DecisionListener>flatMap(part -> part)
                .toList();
    }

    private Reload reload(
            PolicyParts loaded,
            AtomicReference<PolicySnapshot> policies,
            TopKeysTracker topKeys,
            Telemetry telemetry,
            Readings readings) {
        if (settings.reloads()) {
            sources.difference().ifPresent(reason -> MESSAGES.log("WEIR-311", reason));
        }
        return new Reload(
                loaded.loader(),
                settings.reloads() ? sources : loaded::config,
                loaded.config(),
                loaded.snapshot(),
                next -> {
                    policies.set(next);
                    topKeys.retain(next.policies().keySet());
                },
                telemetry.reloads(),
                readings);
    }

    private void report(PolicyParts loaded, EngineParts parts) {
        String backend = loaded.backend().name();
        PolicySnapshot snapshot = settings.enabled() ? parts.policies().get() : loaded.snapshot();
        new StartSummary(settings, snapshot, loaded.loader().methods())
                .message(backend, config, sources.withoutNames())
                .log();
        new StartWarnings(settings, config, snapshot)
                .all(
                        backend,
                        parts.live().isPresent(),
                        loaded.loader().warnings(snapshot),
                        loaded.lookups().sources().policies())
                .forEach(warning -> warning.log());
        if (settings.enabled()) {
            StartWarnings.withoutNames(sources.withoutNames(), config).forEach(warning -> warning.log());
        }
        if (environment.isControlledByClients()) {
            MESSAGES.log("WEIR-611", "Weir-Test-Kit");
        }
    }

    /** Reports the keys near a limit, and returns the timers of all tasks that the settings enable. */
    private List<TaskTimer> timers(EngineParts parts, Telemetry telemetry) {
        List<Plugin.Task> others = Stream.of(
                        parts.live().stream(),
                        platform.all(Plugin.Task.class).stream(),
                        plugins.all().stream().flatMap(plugin -> plugin.tasks().stream()))
                .<Plugin.Task>flatMap(part -> part)
                .toList();
        Sleeper sleeper = environment.tasks();
        List<TaskTimer> timers = new ArrayList<>();
        if (settings.reloads()) {
            timers.add(new TaskTimer(sleeper, () -> settings.reloadInterval().toMillis() * 1_000, parts.reload()));
        }
        if (settings.enabled()) {
            TopKeysTracker topKeys = parts.callers().top();
            timers.add(new TaskTimer(sleeper, () -> RejectedKeysLog.INTERVAL_MICROS, new RejectedKeysLog(topKeys)));
            NearLimitReport nearLimits = new NearLimitReport(
                    () -> parts.policies().get().policies().keySet(), topKeys, telemetry.nearLimit());
            nearLimits.run();
            timers.add(new TaskTimer(sleeper, () -> NearLimitReport.INTERVAL_MICROS, nearLimits));
            others.forEach(task ->
                    timers.add(new TaskTimer(sleeper, () -> task.interval().toMillis() * 1_000, task)));
        }
        return timers;
    }
}
