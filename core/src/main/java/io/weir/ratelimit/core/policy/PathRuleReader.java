// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.QuotedName;
import io.weir.ratelimit.core.key.KeyExpression;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A reader of the path rule of a policy. */
record PathRuleReader(PolicyProperties properties) {
    /** Reads the rule, empty if the policy has none. */
    Optional<PathRule> read(Set<String> attributes, Optional<KeyExpression> key) {
        Optional<String> text = properties.text(ConfigKeys.PATHS);
        boolean byDefault = text.filter("default"::equals).isPresent();
        List<PathPattern> paths = byDefault ? List.of() : paths();
        Map<PathPattern, Long> costs = costs(attributes);
        Set<String> methods =
                new TreeSet<>(properties.optional(ConfigKeys.METHODS).orElse(List.of()));
        boolean early = properties.value(ConfigKeys.PHASE).equals("early");
        boolean applies = text.isPresent() || !costs.isEmpty();
        if (!applies && (early || !methods.isEmpty())) {
            properties.report(
                    MESSAGES.problem("WEIR-121.no-paths", properties.place(), "", properties.name(ConfigKeys.PATHS)));
        }
        if (early && byDefault) {
            properties.report(MESSAGES.problem("WEIR-121.early-default", properties.place(), "", properties.policy()));
        }
        key.ifPresent(expression -> checkKey(expression, applies, early));
        return applies ? Optional.of(new PathRule(paths, byDefault, methods, costs, early)) : Optional.empty();
    }

    private void checkKey(KeyExpression key, boolean applies, boolean early) {
        if (applies && key.needsArguments()) {
            properties.report(MESSAGES.problem("WEIR-121.argument-key", properties.place(), "", key));
        }
        if (early && !key.isEarly()) {
            properties.report(MESSAGES.problem("WEIR-121.early-key", properties.place(), "", key));
        }
    }

    private List<PathPattern> paths() {
        return properties
                .optional(properties.name(ConfigKeys.PATHS), PathRuleReader::paths)
                .orElse(List.of());
    }

    private Map<PathPattern, Long> costs(Set<String> attributes) {
        Map<PathPattern, Long> costs = new LinkedHashMap<>();
        for (String attribute : attributes) {
            Optional<String> path = ConfigKeys.PATH_COST.variable(attribute);
            if (path.isPresent()) {
                String property = properties.name(attribute);
                Optional<PathPattern> pattern =
                        properties.optional(property, value -> PathPattern.parse(QuotedName.unquoted(path.get())));
                Optional<Long> cost = properties.optional(property, ConfigKeys.PATH_COST);
                if (pattern.isPresent() && cost.isPresent() && costs.put(pattern.get(), cost.get()) != null) {
                    properties.report(
                            MESSAGES.problem("WEIR-122", property, cost.get().toString()));
                }
            }
        }
        return costs;
    }

    private static List<PathPattern> paths(String text) {
        List<PathPattern> paths =
                ConfigReader.list(text).stream().map(PathPattern::parse).toList();
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("must be default, or paths separated by commas");
        }
        return paths;
    }
}
