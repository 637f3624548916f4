// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.PolicyProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A reader of the origins of a policy: of all attributes that are set, and of the defaults of the main ones. */
record OriginReader(PolicyProperties properties, Optional<MethodLimits.InlinePolicy> inlinePolicy) {
    /** Reads the origins, sorted by attribute, of a policy that has just been read. */
    List<Origin> read(Set<String> attributes, Policy policy) {
        Set<String> possible = ConfigKeys.all().stream()
                .filter(ConfigKey::isOfPolicy)
                .map(ConfigKey::attribute)
                .filter(attribute -> attribute.indexOf('<') < 0)
                .collect(Collectors.toCollection(TreeSet::new));
        possible.addAll(attributes);
        Map<String, String> defaults = defaults(policy);
        List<Origin> origins = new ArrayList<>();
        for (String attribute : possible) {
            String property = properties.name(attribute);
            properties
                    .text(property)
                    .map(value -> new Origin(
                            property, value, properties.reader().config().source(property)))
                    .or(() -> annotated(attribute, property))
                    .or(() -> Optional.ofNullable(defaults.get(attribute))
                            .map(value -> new Origin(property, value, Origin.DEFAULT)))
                    .ifPresent(origins::add);
        }
        return origins;
    }

    private Optional<Origin> annotated(String attribute, String property) {
        return inlinePolicy.flatMap(annotation -> Optional.of(
                        switch (attribute) {
                            case "limit" -> annotation.limit();
                            case "key" -> annotation.key();
                            case "algorithm" -> annotation.algorithm().configName();
                            default -> "";
                        })
                .filter(value -> !value.isEmpty() && !isDefaultAlgorithm(attribute, value))
                .map(value -> new Origin(property, value, annotation.place())));
    }

    /** Tests for the default algorithm, which an annotation cannot distinguish from none. */
    private static boolean isDefaultAlgorithm(String attribute, String value) {
        return attribute.equals("algorithm") && value.equals(ConfigKeys.ALGORITHM.defaultText());
    }

    private static Map<String, String> defaults(Policy policy) {
        return Map.of(
                "algorithm", policy.form().algorithm().configName(),
                "key", policy.key().toString(),
                "cost", Long.toString(policy.cost()),
                "mode", policy.rollout().mode().name().toLowerCase(Locale.ROOT),
                "on-failure", policy.onFailure().configName());
    }
}
