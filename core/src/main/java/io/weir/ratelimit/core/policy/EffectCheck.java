// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod.Unit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The check for valid properties that have no effect without another one. They are warnings, because a reload, a runtime change or an
 * override can take or give them their effect. A default value that is set explicitly is no warning.
 */
public final class EffectCheck {
    private static final Set<Unit> ANCHORED = EnumSet.of(Unit.MONTH, Unit.QUARTER, Unit.YEAR);

    private static final List<OfPolicy> OF_POLICIES = List.of(
            new OfPolicy(ConfigKeys.ALGORITHM, ConfigKeys.LIMIT, "100/1m", any(WindowLimit.class::isInstance)),
            new OfPolicy(ConfigKeys.ZONE, ConfigKeys.LIMIT, "10000/month", any(CalendarLimit.class::isInstance)),
            new OfPolicy(
                    ConfigKeys.ANCHOR,
                    ConfigKeys.LIMIT,
                    "10000/month",
                    any(limit -> limit instanceof CalendarLimit calendar
                            && ANCHORED.contains(calendar.period().unit()))),
            new OfPolicy(ConfigKeys.CONCURRENCY_TIMEOUT, ConfigKeys.CONCURRENCY, "10", Policy::hasConcurrency),
            new OfPolicy(ConfigKeys.MAX_WAITING, ConfigKeys.MAX_WAIT, "5s", policy -> policy.maxWaitMicros() > 0),
            new OfPolicy(
                    ConfigKeys.ENFORCE_PERCENT,
                    ConfigKeys.MODE,
                    "shadow",
                    policy -> policy.rollout().mode() == Policy.Mode.SHADOW),
            new OfPolicy(
                    ConfigKeys.PENALTY_AFTER,
                    ConfigKeys.MODE,
                    "enforce",
                    policy -> policy.canReject() || policy.rollout().mode() == Policy.Mode.OFF));

    private static final List<OfApplication> OF_APPLICATION = List.of(
            new OfApplication(ConfigKeys.FORWARDED_HEADER, ConfigKeys.TRUSTED_PROXIES, "10.0.0.0/8"),
            new OfApplication(ConfigKeys.CONSOLE_ROLE, ConfigKeys.CONSOLE_ENABLED, "true"),
            new OfApplication(ConfigKeys.CONSOLE_OPEN, ConfigKeys.CONSOLE_ENABLED, "true"),
            new OfApplication(ConfigKeys.CONSOLE_GRAFANA, ConfigKeys.CONSOLE_ENABLED, "true"),
            new OfApplication(ConfigKeys.CHANGES_ROLE, ConfigKeys.CHANGES_ENABLED, "true"),
            new OfApplication(ConfigKeys.BYPASS_HEADER, ConfigKeys.BYPASS_TOKENS, "the digest of a bypass token"));

    private EffectCheck() {}

    /** An attribute that has an effect on some policies only. */
    private record OfPolicy(ConfigKey<?> key, ConfigKey<?> needed, String example, Predicate<Policy> hasEffect) {}

    /** A property that has an effect only if another one is set. An explicit {@code false} of the other one is no mistake. */
    private record OfApplication(ConfigKey<?> key, ConfigKey<?> needed, String example) {}

    private static Predicate<Policy> any(Predicate<Limit> kind) {
        return policy -> policy.allLimits()
                .map(PolicyLimits::limits)
                .anyMatch(limits -> limits.stream().anyMatch(kind));
    }

    /** Returns one warning for each attribute of a policy that has no effect without another one. */
    public static List<MessageCatalog.Message> ofPolicies(
            Map<String, Policy> policies, Map<String, List<Origin>> origins) {
        List<MessageCatalog.Message> warnings = new ArrayList<>();
        new TreeMap<>(policies)
                .values()
                .forEach(policy -> OF_POLICIES.stream()
                        .filter(rule -> !rule.hasEffect.test(policy))
                        .forEach(rule -> origins.getOrDefault(policy.name(), List.of()).stream()
                                .filter(origin -> origin.attribute().equals(rule.key.attribute()))
                                .filter(origin -> isDifferent(origin, rule.key))
                                .forEach(origin -> warnings.add(MESSAGES.message(
                                        "WEIR-015", origin.property(), neighbor(origin, rule.needed), rule.example)))));
        return warnings;
    }

    private static boolean isDifferent(Origin origin, ConfigKey<?> key) {
        return !origin.isDefault() && !origin.value().equals(key.defaultText());
    }

    /** Returns the property of another attribute of the same policy. */
    private static String neighbor(Origin origin, ConfigKey<?> key) {
        String property = origin.property();
        return property.substring(0, property.length() - origin.attribute().length()) + key.attribute();
    }

    /** Returns one warning for each property of the application that has no effect without another one. */
    public static List<MessageCatalog.Message> ofApplication(ConfigProperties config) {
        return OF_APPLICATION.stream()
                .filter(rule -> config.get(rule.key.name())
                        .value()
                        .filter(value -> !value.strip().equals(rule.key.defaultText()))
                        .isPresent())
                .filter(rule -> config.get(rule.needed.name()).value().isEmpty())
                .map(rule -> rule.key.withoutEffect(rule.needed, rule.example))
                .toList();
    }
}
