// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.EffectCheck;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The warnings about valid settings that are probably a mistake. */
public final class StartWarnings {
    private static final Set<AddressRange> EVERYONE =
            Set.of(AddressRange.parse("0.0.0.0/0"), AddressRange.parse("::/0"));

    private static final Duration LONG = Duration.ofDays(1);

    /** The name of a policy, a tier or a client that YAML has instead of another word. */
    private static final Pattern READ_BY_YAML =
            Pattern.compile("(ratelimit\\.(?:policies\\.(?:.+\\.tiers\\.)?|clients\\.)\"?(true|false|null)\"?)\\..+");

    private final Settings settings;
    private final ConfigProperties config;
    private final PolicySnapshot snapshot;
    private final List<MessageCatalog.Message> warnings = new ArrayList<>();

    public StartWarnings(Settings settings, ConfigProperties config, PolicySnapshot snapshot) {
        this.settings = settings;
        this.config = config;
        this.snapshot = snapshot;
    }

    /** Returns one message for each warning, with those about single policies. */
    public List<MessageCatalog.Message> all(
            String backend,
            boolean learnsInstances,
            List<MessageCatalog.Message> ofPolicies,
            Set<String> policiesOfSources) {
        if (settings.enabled()) {
            checkBackend(backend, learnsInstances);
            checkAddresses();
            checkHeaders(backend);
            warnings.addAll(ofPolicies);
            checkSources(policiesOfSources);
            warnings.addAll(EffectCheck.ofApplication(config));
            checkNames();
        }
        return List.copyOf(warnings);
    }

    private boolean isSet(String property) {
        return config.get(property).value().isPresent();
    }

    private void checkBackend(String backend, boolean learnsInstances) {
        boolean local = backend.equals("local") && !isReplaced();
        OptionalInt instances = settings.instances();
        if (local && instances.orElse(1) > 1) {
            warnings.add(MESSAGES.message("WEIR-005", instances.getAsInt()));
        } else if (local && isSet("KUBERNETES_SERVICE_HOST") && instances.isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-005.kubernetes"));
        }
        if (local) {
            checkLongLimits(backend);
        }
        if (backend.equals("redisson") && !isSet(ConfigKeys.NAMESPACE.name())) {
            warnings.add(MESSAGES.message("WEIR-006"));
        }
        if (!local && !learnsInstances && instances.orElse(1) == 1) {
            checkFailureModes(backend);
        }
    }

    /** Tests whether the environment of a test counts in process in place of a configured Redis. */
    private boolean isReplaced() {
        return settings.backend().equals(ConfigKeys.BACKEND.defaultText())
                && (isSet(ConfigKeys.REDIS_ADDRESS.name()) || isSet(ConfigKeys.REDIS_CONFIG.name()));
    }

    /** Checks that a restart does not end long periods. */
    private void checkLongLimits(String backend) {
        Set<String> policies = names(policy ->
                policy.rollout().mode() != Policy.Mode.OFF && policy.allLimits().anyMatch(StartWarnings::isLong));
        if (!policies.isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-020", policies, backend));
        }
    }

    private static boolean isLong(PolicyLimits limits) {
        return limits.withoutConcurrency().stream()
                .flatMap(others -> others.limits().stream())
                .anyMatch(limit -> limit.window().compareTo(LONG) >= 0);
    }

    /** Checks names that a file can have as another word. The value of a claim can be true or false, so a tier can have this name. */
    private void checkNames() {
        Set<String> found = new HashSet<>();
        for (String property : config.names()) {
            Matcher name = READ_BY_YAML.matcher(property);
            if (name.matches()
                    && found.add(name.group(1))
                    && (!name.group(1).contains(".tiers.") || isYaml(config.source(property)))) {
                warnings.add(MESSAGES.message("WEIR-021", name.group(1), name.group(2)));
            }
        }
    }

    private static boolean isYaml(String source) {
        String name = source.toLowerCase(Locale.ROOT);
        return name.contains("yaml") || name.contains("yml");
    }

    /** Checks the failure modes that depend on the number of instances. */
    private void checkFailureModes(String backend) {
        Set<String> local = enforced(FailureMode.LOCAL);
        if (!local.isEmpty() && settings.instances().isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-010", local, backend));
        }
        Set<String> sample = enforced(FailureMode.SAMPLE);
        if (!sample.isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-011", sample));
        }
    }

    /** Returns the policies that reject calls and have a failure mode. */
    private Set<String> enforced(FailureMode mode) {
        return names(policy -> policy.canReject() && policy.onFailure() == mode);
    }

    private Set<String> names(Predicate<Policy> kind) {
        return snapshot.policies().values().stream()
                .filter(kind)
                .map(Policy::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns a warning if only known names are found in a source, and the configuration does not complete them. */
    public static List<MessageCatalog.Message> withoutNames(Set<String> sources, ConfigProperties config) {
        boolean completed = Stream.of(ConfigKeys.PATH_POLICIES, ConfigKeys.CLIENT_NAMES)
                .anyMatch(key -> config.get(key.name()).value().isPresent());
        return sources.isEmpty() || completed ? List.of() : List.of(MESSAGES.message("WEIR-016", sources));
    }

    private void checkAddresses() {
        settings.trustedProxies().stream()
                .filter(EVERYONE::contains)
                .forEach(range -> warnings.add(MESSAGES.message("WEIR-007.proxies", range)));
        EVERYONE.stream()
                .filter(snapshot.bypass()::includes)
                .forEach(range -> warnings.add(MESSAGES.message("WEIR-007.bypass", range)));
    }

    private void checkHeaders(String backend) {
        Set<String> policies = names(policy -> policy.key().usesHeader());
        if (!backend.equals("local")
                && !policies.isEmpty()
                && settings.keySecret().isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-008", policies));
        }
    }

    private void checkSources(Set<String> policiesOfSources) {
        policiesOfSources.stream()
                .filter(name -> !snapshot.policies().containsKey(name))
                .forEach(name -> warnings.add(MESSAGES.message(
                        "WEIR-315", name, new TreeSet<>(snapshot.policies().keySet()))));
    }
}
