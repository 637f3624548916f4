// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.EngineRateLimiter;
import io.weir.ratelimit.interceptor.engine.Outages;
import io.weir.ratelimit.interceptor.engine.PassingBackend;
import io.weir.ratelimit.interceptor.engine.Pause;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.engine.StoreListener;
import io.weir.ratelimit.interceptor.key.Claims;
import io.weir.ratelimit.interceptor.key.ClientAddress;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.observe.Telemetry;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Policies;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Problems;
import io.weir.ratelimit.interceptor.policy.Settings;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.RateLimitBackend;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
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
        List<Ruled> ruled = ruled(beanClasses);
        List<MethodRule> rules = ruled.stream().map(Ruled::rule).toList();
        KeyTerms terms = new KeyTerms(
                settings.ipv4Prefix(),
                settings.ipv6Prefix(),
                new ClientAddress(settings.trustedProxies(), settings.forwardedHeader()),
                new NamedResolvers(beans, problems).find(),
                Claims.areHere());
        Map<String, Policy> policies = Policies.read(config, rules, terms, problems);
        ruled.forEach(one -> one.rule().policies().stream()
                .map(policies::get)
                .filter(Objects::nonNull)
                .forEach(policy -> NamedArguments.check(one.beanClass(), one.method(), policy, problems)));
        Map<String, Long> costs = costs(rules);
        RateLimitBackend backend = backend(settings);
        problems.addAll(backend.problems());
        CdiEvents events = new CdiEvents(beans);
        Telemetry telemetry = settings.enabled()
                ? Telemetry.choose(
                        settings, backend.name(), this::find, isOpenTelemetryOn(), events.ofRejections(), problems)
                : Telemetry.NONE;
        RateLimitEngine engine = engine(settings, backend, telemetry, events);
        if (problems.found().isEmpty()) {
            telemetry.flights().ifPresent(backend::listen);
            backend.start();
            LOG.log(
                    Level.INFO,
                    "WEIR-001 rate limits are {0}: store {1}, policies {2}",
                    settings.enabled() ? "on" : "off",
                    backend.name(),
                    new TreeSet<>(policies.keySet()));
        }
        Bindings bindings = new Bindings((beanClass, method) ->
                settings.enabled() ? binding(beanClass, method, policies, costs, terms) : Binding.NONE);
        return new RateLimitRuntime(
                engine,
                new EngineRateLimiter(engine, policies, new ContainerExecutor()),
                bindings,
                settings.headers(),
                telemetry.spans(),
                beans);
    }

    private RateLimitEngine engine(Settings settings, RateLimitBackend backend, Telemetry telemetry, CdiEvents events) {
        List<DecisionListener> listeners = new ArrayList<>(telemetry.listeners());
        beans.createInstance()
                .select(DecisionListener.class, Any.Literal.INSTANCE)
                .forEach(listeners::add);
        List<StoreListener> storeListeners = new ArrayList<>(telemetry.storeListeners());
        storeListeners.addAll(events.ofStore());
        return new RateLimitEngine(
                backend,
                new IdentityEncoder(settings.keySecret()),
                listeners,
                new Outages(backend.name(), System::nanoTime, storeListeners),
                Pause.REAL);
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

    /** What annotations say about a method of a bean. */
    private record Ruled(Class<?> beanClass, Method method, MethodRule rule) {}

    private List<Ruled> ruled(Set<Class<?>> beanClasses) {
        RuleReader reader = new RuleReader(problems);
        Reachability reachability = new Reachability(problems);
        List<Ruled> rules = new ArrayList<>();
        for (Class<?> beanClass : beanClasses) {
            reachability.check(beanClass);
            for (Method method : RuleReader.candidates(beanClass)) {
                reader.read(beanClass, method).ifPresent(rule -> rules.add(new Ruled(beanClass, method, rule)));
            }
        }
        return rules;
    }

    private Map<String, Long> costs(List<MethodRule> rules) {
        Map<String, Long> costs = new LinkedHashMap<>();
        for (MethodRule rule : rules) {
            if (!costs.containsKey(rule.endpoint())) {
                Policies.cost(config, rule.endpoint(), problems).ifPresent(cost -> costs.put(rule.endpoint(), cost));
            }
        }
        return costs;
    }

    /** The policies of a method. Runs at a method's first call; at deployment every known one has been checked. */
    private Binding binding(
            Class<?> beanClass, Method method, Map<String, Policy> policies, Map<String, Long> costs, KeyTerms terms) {
        Problems late = new Problems();
        Optional<MethodRule> found = new RuleReader(late).read(beanClass, method);
        if (found.isEmpty()) {
            return Binding.NONE;
        }
        MethodRule rule = found.get();
        List<Binding.Costed> costed = new ArrayList<>();
        for (String name : rule.policies()) {
            Policy policy = policies.containsKey(name)
                    ? policies.get(name)
                    : Policies.read(config, List.of(rule), terms, late).get(name);
            if (policy == null) {
                throw new IllegalStateException("WEIR-204 " + rule.endpoint() + " is limited by the policy " + name
                        + ", which could not be checked at deployment because its class was no bean then, and is wrong; "
                        + late.message());
            }
            long own = rule.cost() > 0 ? rule.cost() : policy.cost();
            costed.add(new Binding.Costed(policy, costs.getOrDefault(rule.endpoint(), own)));
        }
        return new Binding(rule.endpoint(), costed);
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
