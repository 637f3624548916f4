// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Reads where the values of a policy come from: all that are given, and the defaults of those that say most about it. */
final class OriginReader {
    private final ConfigReader reader;
    private final String name;
    private final Optional<InPlace> inPlace;

    OriginReader(ConfigReader reader, String name, Optional<InPlace> inPlace) {
        this.reader = reader;
        this.name = name;
        this.inPlace = inPlace;
    }

    /** The origins by property, of a policy that was just read of the same configuration. */
    List<Origin> read(Set<String> attributes, Policy policy) {
        Set<String> possible = new TreeSet<>(PolicyReader.ATTRIBUTES);
        possible.addAll(attributes);
        Map<String, String> defaults = defaults(policy);
        List<Origin> origins = new ArrayList<>();
        for (String attribute : possible) {
            String property = reader.policyProperty(name, attribute);
            Optional<Origin> given = reader.text(property)
                    .map(value -> new Origin(property, value, reader.source(property)))
                    .or(() -> annotated(attribute, property));
            given.or(() -> Optional.ofNullable(defaults.get(attribute))
                            .map(value -> new Origin(property, value, Origin.DEFAULT)))
                    .ifPresent(origins::add);
        }
        return origins;
    }

    private Optional<Origin> annotated(String attribute, String property) {
        return inPlace.flatMap(annotation -> Optional.ofNullable(
                        switch (attribute) {
                            case "limit" -> annotation.limit();
                            case "key" -> annotation.key();
                            case "algorithm" -> annotation.algorithm().configName();
                            default -> "";
                        })
                .filter(value -> !value.isEmpty() && !isDefault(attribute, annotation))
                .map(value -> new Origin(property, value, annotation.place())));
    }

    /** An annotation cannot tell the default algorithm from none. */
    private static boolean isDefault(String attribute, InPlace annotation) {
        return attribute.equals("algorithm") && annotation.algorithm() == PolicyReader.DEFAULT_ALGORITHM;
    }

    private static Map<String, String> defaults(Policy policy) {
        Map<String, String> defaults = new TreeMap<>();
        defaults.put("algorithm", policy.limits().limits().get(0).algorithm().configName());
        defaults.put("key", policy.key().toString());
        defaults.put("cost", Long.toString(policy.cost()));
        defaults.put("mode", policy.mode().name().toLowerCase(Locale.ROOT));
        defaults.put("on-failure", policy.onFailure().configName());
        return defaults;
    }
}
