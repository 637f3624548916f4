// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.limit.PeriodEnd;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The summary of a deployment: the backend with the reason for it, the settings and the policies. */
public record StartSummary(
        Settings settings, PolicySnapshot snapshot, List<MethodLimits> methods, InstantSource clock) {
    /** The number of policies in the summary. */
    public static final int MAX_POLICIES = 50;

    public StartSummary(Settings settings, PolicySnapshot snapshot, List<MethodLimits> methods) {
        this(settings, snapshot, methods, InstantSource.system());
    }

    /** Returns the message, with one line for the settings and one for each policy. */
    public MessageCatalog.Message message(String backend, ConfigProperties config, Set<String> sourcesWithoutNames) {
        if (!settings.enabled()) {
            return MESSAGES.message("WEIR-001.disabled");
        }
        List<String> lines = new ArrayList<>();
        lines.add("headers: " + list(settings.headers()) + "; trusted proxies: " + list(settings.trustedProxies())
                + "; bypass: " + (snapshot.bypass().isEmpty() ? "none" : snapshot.bypass())
                + "; reload interval: "
                + (settings.reloads() ? settings.reloadInterval().toSeconds() + "s" : "none")
                + "; instances: " + instances());
        if (!sourcesWithoutNames.isEmpty()) {
            lines.add("configuration sources without names: " + list(sourcesWithoutNames));
        }
        lines.addAll(texts(snapshot.policies()));
        return MESSAGES.message("WEIR-001.enabled", backend, reason(backend, config), InstanceName.own())
                .withLines(lines);
    }

    private String instances() {
        OptionalInt instances = settings.instances();
        return instances.isPresent() ? Integer.toString(instances.getAsInt()) : ConfigKeys.INSTANCES.defaultText();
    }

    /** Returns one line for each policy of the methods. */
    public List<String> policiesOfMethods() {
        Map<String, Policy> used = new HashMap<>(snapshot.policies());
        used.keySet().removeIf(name -> methods.stream().noneMatch(method -> method.isUnder(name)));
        return texts(used);
    }

    private List<String> texts(Map<String, Policy> policies) {
        List<String> lines = new ArrayList<>();
        new TreeMap<>(policies)
                .values().stream().limit(MAX_POLICIES).forEach(policy -> lines.add("policy " + text(policy)));
        if (policies.size() > MAX_POLICIES) {
            lines.add("and " + (policies.size() - MAX_POLICIES) + " more policies");
        }
        return lines;
    }

    private String reason(String backend, ConfigProperties config) {
        if (!settings.backend().equals(ConfigKeys.BACKEND.defaultText())) {
            return ConfigKeys.BACKEND.name() + "=" + settings.backend();
        }
        if (backend.equals("local")) {
            return isRedisConfigured(config) ? "auto: a test counts in process" : "auto: no Redis is configured";
        }
        if (!backend.equals("redisson")) {
            return "auto: the backend is configured";
        }
        return redisProperties(config)
                .findFirst()
                .map(property -> "auto: " + property + " is set")
                .orElse("auto: the application has a RedissonClient");
    }

    private static boolean isRedisConfigured(ConfigProperties config) {
        return redisProperties(config).findAny().isPresent();
    }

    private static Stream<String> redisProperties(ConfigProperties config) {
        return Stream.of(ConfigKeys.REDIS_ADDRESS, ConfigKeys.REDIS_CONFIG)
                .map(ConfigKey::name)
                .filter(property -> config.get(property).value().isPresent());
    }

    private static String list(Collection<?> values) {
        return values.isEmpty() ? "none" : values.stream().map(Object::toString).collect(Collectors.joining(", "));
    }

    private String text(Policy policy) {
        List<String> parts = new ArrayList<>();
        parts.add(policy.name() + ": " + limits(policy.limits()));
        if (!policy.tiers().limits().isEmpty()) {
            parts.add("tiers by " + policy.tiers() + " "
                    + new TreeMap<>(policy.tiers().limits())
                            .entrySet().stream()
                                    .map(tier -> tier.getKey() + " " + limits(tier.getValue()))
                                    .collect(Collectors.joining(", ", "(", ")")));
        }
        List<String> clients = methods.stream()
                .filter(method -> method.isClient() && method.isUnder(policy.name()))
                .map(MethodLimits::endpoint)
                .toList();
        long count = methods.stream()
                .filter(method -> !method.isClient() && method.isUnder(policy.name()))
                .count();
        boolean isOfClients =
                count == 0 && !clients.isEmpty() && policy.pathRule().isEmpty();
        parts.add(isOfClients ? "key of the client" : "key " + policy.key());
        addUnless(parts, "mode", policy.rollout().mode(), Policy.Mode.ENFORCE);
        if (policy.rollout().enforcePercent() > 0) {
            parts.add("enforce-percent " + policy.rollout().enforcePercent());
        }
        addUnless(parts, "on-failure", policy.onFailure(), FailureMode.OPEN);
        addUnless(parts, "count", policy.count(), Policy.Count.ALWAYS);
        addUnless(parts, "disclosure", policy.response().disclosure(), Policy.Disclosure.FULL);
        if (policy.limits().lease() > 0) {
            parts.add("lease " + policy.limits().lease());
        }
        if (!policy.notifyAt().isEmpty()) {
            parts.add("notify-at "
                    + policy.notifyAt().stream().map(percent -> percent + "%").collect(Collectors.joining(", ")));
        }
        policy.penalty().ifPresent(rule -> parts.add("penalty " + rule));
        if (count > 0) {
            parts.add(count == 1 ? "1 method" : count + " methods");
        }
        parts.addAll(clients);
        policy.pathRule().ifPresent(rule -> parts.add(rule.text()));
        if (count == 0 && clients.isEmpty() && policy.pathRule().isEmpty()) {
            parts.add("no method and no path");
        }
        parts.addAll(runtimeChanges(policy));
        return String.join("; ", parts);
    }

    /** Returns the runtime changes of a policy with the attributes whose values they determine. */
    private List<String> runtimeChanges(Policy policy) {
        Map<String, List<String>> attributes = new TreeMap<>();
        snapshot.origins().getOrDefault(policy.name(), List.of()).stream()
                .filter(Origin::isChange)
                .forEach(origin -> attributes
                        .computeIfAbsent(origin.source(), first -> new ArrayList<>())
                        .add(origin.attribute()));
        return attributes.entrySet().stream()
                .map(change -> String.join(", ", change.getValue()) + " by " + change.getKey())
                .toList();
    }

    private String limits(PolicyLimits limits) {
        return limits.limits().stream()
                .map(limit -> PeriodEnd.withEnd(limit, clock.instant()))
                .collect(Collectors.joining(", "));
    }

    private static void addUnless(List<String> parts, String attribute, Enum<?> value, Enum<?> defaultValue) {
        if (!value.equals(defaultValue)) {
            parts.add(attribute + " " + value.name().toLowerCase(Locale.ROOT));
        }
    }
}
