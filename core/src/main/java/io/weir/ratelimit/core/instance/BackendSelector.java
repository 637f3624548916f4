// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.local.DisabledBackend;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The selection of the backend by {@code ratelimit.backend}. */
public final class BackendSelector {
    private static final String LOCAL = "local";
    private static final String REDISSON = "redisson";
    private static final String REDIS = "ratelimit.redis.";

    private final Map<String, RateLimitBackend> byName = new LinkedHashMap<>();
    private final RateLimitBackend local;
    private final EngineEnvironment environment;
    private final ConfigProperties config;
    private final Problems problems;

    /** Creates a selector. The environment can replace backends by the one in process. */
    public BackendSelector(
            Collection<RateLimitBackend> backends,
            RateLimitBackend local,
            EngineEnvironment environment,
            ConfigProperties config,
            Problems problems) {
        backends.stream()
                .filter(backend -> !environment.replaces(backend.name()))
                .forEach(backend -> byName.put(backend.name(), backend));
        byName.putIfAbsent(LOCAL, local);
        this.local = byName.getOrDefault(LOCAL, local);
        this.environment = environment;
        this.config = config;
        this.problems = problems;
    }

    /** Selects the backend and reports the problems of its configuration. */
    public RateLimitBackend select(Settings settings) {
        checkReadable();
        RateLimitBackend selected = find(settings);
        problems.addAll(selected.validateConfiguration());
        List.of(ConfigKeys.NAMESPACE, ConfigKeys.REDIS_DEADLINE).forEach(this::checkShared);
        return selected;
    }

    /** Reports an invalid property that not only the backend of Redis uses, unless the backend has reported it. */
    private void checkShared(ConfigKey<?> key) {
        if (problems.found().stream().noneMatch(problem -> problem.place().equals(key.name()))) {
            new ConfigReader(config, problems).value(key);
        }
    }

    /** Reports the properties of Redis that cannot be read: its backend takes them for absent, and each instance then counts alone. */
    private void checkReadable() {
        ConfigReader reader = new ConfigReader(config, problems);
        ConfigKeys.all().stream()
                .map(ConfigKey::name)
                .filter(name -> name.startsWith(REDIS) || name.equals(ConfigKeys.NAMESPACE.name()))
                .forEach(reader::text);
    }

    private RateLimitBackend find(Settings settings) {
        if (!settings.enabled()) {
            return new DisabledBackend();
        }
        if (settings.backend().equals(ConfigKeys.BACKEND.defaultText())) {
            return configured();
        }
        if (environment.replaces(settings.backend())) {
            return local;
        }
        return Optional.ofNullable(byName.get(settings.backend())).orElseGet(() -> unknown(settings.backend()));
    }

    private RateLimitBackend configured() {
        Optional<RateLimitBackend> configured = byName.values().stream()
                .filter(backend -> !backend.name().equals(LOCAL) && backend.isConfigured())
                .findFirst();
        if (configured.isEmpty() && !byName.containsKey(REDISSON) && !environment.replaces(REDISSON)) {
            for (ConfigKey<?> key : List.of(ConfigKeys.REDIS_ADDRESS, ConfigKeys.REDIS_CONFIG)) {
                if (config.get(key.name()).value().isPresent()) {
                    problems.add(MESSAGES.problem("WEIR-206", key.name(), "***"));
                }
            }
        }
        return configured.orElse(local);
    }

    /** Reports an unknown name, together with the problems of all backends that are configured. */
    private RateLimitBackend unknown(String name) {
        problems.add(MESSAGES.problem("WEIR-205", ConfigKeys.BACKEND.name(), name, byName.keySet()));
        byName.values().stream()
                .filter(RateLimitBackend::isConfigured)
                .forEach(backend -> problems.addAll(backend.validateConfiguration()));
        return new DisabledBackend();
    }
}
