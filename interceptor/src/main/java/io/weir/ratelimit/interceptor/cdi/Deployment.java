// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Fallback;
import io.weir.ratelimit.interceptor.engine.Outages;
import io.weir.ratelimit.interceptor.engine.PassingBackend;
import io.weir.ratelimit.interceptor.engine.Pause;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.engine.StoreHealth;
import io.weir.ratelimit.interceptor.engine.StoreListener;
import io.weir.ratelimit.interceptor.engine.StoredKeys;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.Claims;
import io.weir.ratelimit.interceptor.key.ClientAddress;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.key.ShownKeys;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.observe.Telemetry;
import io.weir.ratelimit.interceptor.operate.Access;
import io.weir.ratelimit.interceptor.operate.InstanceOperations;
import io.weir.ratelimit.interceptor.operate.KnownPolicies;
import io.weir.ratelimit.interceptor.operate.Readings;
import io.weir.ratelimit.interceptor.policy.ConfigSnapshot;
import io.weir.ratelimit.interceptor.policy.ConsoleSettings;
import io.weir.ratelimit.interceptor.policy.OverrideSources;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policies;
import io.weir.ratelimit.interceptor.policy.Problems;
import io.weir.ratelimit.interceptor.policy.Settings;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** Makes the runtime of one deployment out of its configuration, annotations and beans. */
final class Deployment {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final BeanManager beans;
    private final Instance<Object> objects;
    private final Problems problems;
    private final Config config = ConfigProvider.getConfig();

    Deployment(RateLimitBeans own, Problems problems) {
        this.beans = own.visible();
        this.objects = own.objects();
        this.problems = problems;
    }

    RateLimitRuntime make(Set<Class<?>> beanClasses) {
        Settings settings = Settings.read(config, problems);
        ClientAddress clients = new ClientAddress(settings.trustedProxies(), settings.forwardedHeader());
        NamedResolvers resolvers = new NamedResolvers(beans, problems);
        KeyTerms terms = new KeyTerms(
                settings.ipv4Prefix(), settings.ipv6Prefix(), clients, resolvers.ofKeys(), Claims.areHere());
        RulebookReader reader =
                RulebookReader.of(beanClasses, new Policies.Vocabulary(terms, resolvers.ofTiers()), problems);
        ConfigSnapshot read = new ConfigSnapshot(config);
        Rulebook rulebook = reader.read(read, problems);
        RateLimitBackend backend = backend(settings);
        problems.addAll(backend.problems());
        CdiEvents events = new CdiEvents(beans);
        ShownKeys keys = new ShownKeys(settings.keySecret());
        HeavyKeys heavy = settings.enabled() ? new HeavyKeys(keys, System::nanoTime) : HeavyKeys.NONE;
        Telemetry telemetry = settings.enabled()
                ? Telemetry.choose(
                        settings,
                        backend.name(),
                        this::find,
                        isOpenTelemetryOn(),
                        events.ofRejections(),
                        keys,
                        problems)
                : Telemetry.NONE;
        Optional<RejectionResponder> responder = responder();
        ContainerExecutor executor = new ContainerExecutor();
        OverrideSources sources = OverrideSources.of(all(PolicySource.class), problems);
        Overrides overrides = new Overrides(
                sources,
                settings.answersHoldFor(),
                settings.deadline(),
                executor,
                System::nanoTime,
                telemetry.sources());
        List<StoreListener> storeListeners = new ArrayList<>(telemetry.storeListeners());
        storeListeners.addAll(events.ofStore());
        Outages outages = new Outages(backend.name(), System::nanoTime, storeListeners);
        RateLimitEngine engine = engine(settings, backend, outages, telemetry.listeners(), overrides, heavy);
        if (problems.found().isEmpty()) {
            PlatformTimer.start();
            telemetry.backend().ifPresent(backend::listen);
            backend.start();
            LOG.log(Level.INFO, new StartSummary(settings, rulebook, reader.rules()).text(backend.name(), config));
            new StartWarnings(settings, config, rulebook)
                    .all(backend.name(), reader.rules(), sources.policies())
                    .forEach(warning -> LOG.log(Level.WARNING, warning));
        }
        StoreHealth health =
                new StoreHealth(backend, outages, settings.enabled(), settings.failsWhenDegraded(), System::nanoTime);
        AtomicReference<Rulebook> held = new AtomicReference<>(settings.enabled() ? rulebook : rulebook.off());
        Readings readings = new Readings(Clock.systemUTC());
        KnownPolicies policies = new KnownPolicies(
                () -> Objects.requireNonNull(held.get()).policies(),
                name -> Objects.requireNonNull(held.get()).origins().getOrDefault(name, List.of()),
                reader.rules());
        RateLimitRuntime runtime = new RateLimitRuntime(
                engine,
                health,
                executor,
                held,
                new InstanceOperations(
                        access(settings.console()),
                        health,
                        policies,
                        readings,
                        heavy,
                        keys,
                        new StoredKeys(engine, overrides)),
                settings.headers(),
                telemetry.spans(),
                clients,
                responder,
                beans);
        if (settings.reloads() && problems.found().isEmpty()) {
            Consumer<Rulebook> holds = next -> {
                held.set(next);
                heavy.retain(next.policies().keySet());
            };
            Reload reload = new Reload(
                    reader, CurrentConfig.of(config, read), read, rulebook, holds, telemetry.reloads(), readings);
            runtime.reloadBy(
                    new ReloadTimer(Pause.REAL, settings.reloadInterval().toMillis() * 1_000, reload));
        }
        return runtime;
    }

    private static Access access(ConsoleSettings console) {
        return new Access(console.enabled(), console.role(), console.open());
    }

    /** The application's beans of a type. */
    private <T> List<T> all(Class<T> type) {
        return beans.createInstance().select(type, Any.Literal.INSTANCE).stream()
                .toList();
    }

    private Optional<RejectionResponder> responder() {
        List<RejectionResponder> found = all(RejectionResponder.class);
        if (found.size() > 1) {
            problems.add(
                    "WEIR-123",
                    RejectionResponder.class.getSimpleName(),
                    "",
                    "the application has " + found.size() + " beans of this type, and a refusal has one body",
                    "keep one, which may ask the others");
        }
        return found.stream().findFirst();
    }

    private RateLimitEngine engine(
            Settings settings,
            RateLimitBackend backend,
            Outages outages,
            List<DecisionListener> own,
            Overrides overrides,
            HeavyKeys heavy) {
        List<DecisionListener> listeners = new ArrayList<>(own);
        listeners.addAll(all(DecisionListener.class));
        return new RateLimitEngine(
                backend,
                new Fallback(settings.instances(), () -> new LocalBackend(settings.localMaxKeys())),
                new IdentityEncoder(settings.keySecret()),
                listeners,
                outages,
                Pause.REAL,
                overrides,
                heavy);
    }

    /** An object of the server's. */
    private <T> Optional<T> find(Class<T> type) {
        Instance<T> found = objects.select(type);
        return found.isResolvable() ? Optional.of(found.get()) : Optional.empty();
    }

    /** MicroProfile Telemetry is off unless it is switched on. */
    private boolean isOpenTelemetryOn() {
        return config.getOptionalValue("otel.sdk.disabled", String.class)
                .filter("false"::equalsIgnoreCase)
                .isPresent();
    }

    private RateLimitBackend backend(Settings settings) {
        Map<String, RateLimitBackend> byName = new LinkedHashMap<>();
        for (RateLimitBackend backend : beans.createInstance().select(RateLimitBackend.class, Any.Literal.INSTANCE)) {
            byName.put(backend.name(), backend);
        }
        byName.putIfAbsent("local", new LocalBackend(settings.localMaxKeys()));
        if (!settings.enabled()) {
            return new PassingBackend();
        }
        if (settings.backend().equals("auto")) {
            return auto(byName);
        }
        RateLimitBackend chosen = byName.get(settings.backend());
        if (chosen == null) {
            problems.add(
                    "WEIR-205",
                    "ratelimit.backend",
                    settings.backend(),
                    "there is no such store",
                    "use auto or one of " + byName.keySet()
                            + "; for redisson the application needs the jar weir-redisson-backend");
            // Whichever was meant, what is wrong with it is said now and not after this is corrected.
            byName.values().stream()
                    .filter(RateLimitBackend::configured)
                    .forEach(backend -> problems.addAll(backend.problems()));
            return new PassingBackend();
        }
        return chosen;
    }

    private RateLimitBackend auto(Map<String, RateLimitBackend> byName) {
        RateLimitBackend local = byName.remove("local");
        Optional<RateLimitBackend> configured =
                byName.values().stream().filter(RateLimitBackend::configured).findFirst();
        if (configured.isEmpty() && !byName.containsKey("redisson")) {
            for (String property : List.of("ratelimit.redis.address", "ratelimit.redis.config")) {
                if (config.getOptionalValue(property, String.class).isPresent()) {
                    problems.add(
                            "WEIR-206",
                            property,
                            "***",
                            "a Redis is configured, but the store for it is not in the application",
                            "add the jar weir-redisson-backend, or set ratelimit.backend=local");
                }
            }
        }
        return configured.orElse(Objects.requireNonNull(local));
    }
}
