// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.policy.MethodRule;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.Settings;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;

/** What an operator wants to know of a deployment at once: which store counts and why, and what is limited where. */
final class StartSummary {
    /** How many policies are told of. */
    static final int MOST = 50;

    private final Settings settings;
    private final Rulebook rulebook;
    private final List<MethodRule> rules;

    StartSummary(Settings settings, Rulebook rulebook, List<MethodRule> rules) {
        this.settings = settings;
        this.rulebook = rulebook;
        this.rules = rules;
    }

    /** Several lines. */
    String text(String store, Config config) {
        if (!settings.enabled()) {
            return "WEIR-001 rate limits are off: every call passes and nothing is counted";
        }
        List<String> lines = new ArrayList<>();
        lines.add("WEIR-001 rate limits are on: store " + store + " (" + reason(store, config) + ")");
        lines.add("headers " + list(settings.headers()) + "; trusted proxies " + list(settings.trustedProxies())
                + "; bypass " + (rulebook.bypass().isEmpty() ? "none" : rulebook.bypass())
                + "; policies are "
                + (settings.reloads()
                        ? "read again every " + settings.reloadInterval().toSeconds() + "s"
                        : "never read again"));
        rulebook.policies().values().stream()
                .collect(Collectors.toMap(Policy::name, policy -> policy, (one, same) -> one, TreeMap::new))
                .values()
                .stream()
                .limit(MOST)
                .forEach(policy -> lines.add("policy " + text(policy)));
        if (rulebook.policies().size() > MOST) {
            lines.add("and " + (rulebook.policies().size() - MOST) + " more policies");
        }
        return lines.stream().map(line -> line.replaceAll("\\p{Cntrl}", " ")).collect(Collectors.joining("\n  "));
    }

    private String reason(String store, Config config) {
        if (!settings.backend().equals("auto")) {
            return "ratelimit.backend=" + settings.backend();
        }
        if (store.equals("local")) {
            return "auto: no Redis is configured";
        }
        if (!store.equals("redisson")) {
            return "auto: it is configured";
        }
        return Stream.of("ratelimit.redis.address", "ratelimit.redis.config")
                .filter(property ->
                        config.getOptionalValue(property, String.class).isPresent())
                .findFirst()
                .map(property -> "auto: " + property + " is set")
                .orElse("auto: the application has a RedissonClient");
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
        parts.add("key " + policy.key());
        addUnless(parts, "mode", policy.mode(), Policy.Mode.ENFORCE);
        addUnless(parts, "on-failure", policy.onFailure(), FailureMode.OPEN);
        addUnless(parts, "count", policy.count(), Policy.Count.ALWAYS);
        addUnless(parts, "disclosure", policy.disclosure(), Policy.Disclosure.FULL);
        long methods = rules.stream()
                .filter(rule -> rule.policies().contains(policy.name()))
                .count();
        if (methods > 0) {
            parts.add(methods == 1 ? "1 method" : methods + " methods");
        }
        policy.rule().ifPresent(rule -> parts.add(rule.text()));
        if (methods == 0 && policy.rule().isEmpty()) {
            parts.add("in code only, if at all");
        }
        return String.join("; ", parts);
    }

    private static String limits(PolicyLimits limits) {
        return limits.limits().stream().map(Limit::toString).collect(Collectors.joining(", "));
    }

    private static void addUnless(List<String> parts, String what, Enum<?> value, Enum<?> usual) {
        if (!value.equals(usual)) {
            parts.add(what + " " + value.name().toLowerCase(Locale.ROOT));
        }
    }
}
