// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.QuotedName;
import io.weir.ratelimit.core.key.Spelling;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The check for unknown and unreadable properties. Without it, a misspelled property could leave a call without its limit.
 *
 * @param general collects the problems of properties that do not belong to a policy
 * @param ofPolicies collects the problems of the properties of policies
 */
record UnknownPropertyCheck(ConfigReader general, ConfigReader ofPolicies) {
    private static final String BEGINNING = "ratelimit.";

    private static final Set<String> PROPERTIES = names(Predicate.not(ConfigKey::isOfPolicy), ConfigKey::name);
    private static final Set<String> ATTRIBUTES = names(ConfigKey::isOfPolicy, ConfigKey::attribute);

    private static Set<String> names(Predicate<ConfigKey<?>> included, Function<ConfigKey<?>, String> name) {
        return ConfigKeys.all().stream()
                .filter(key -> included.test(key) && !key.equals(ConfigKeys.METHOD_COST))
                .map(name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Checks all properties. Returns the problems of the policies with an unknown attribute. Removes from the set attributes each part of a
     * name whose quotes are missing.
     */
    Map<String, List<ConfigurationProblem>> check(
            Collection<MethodLimits> methods, Map<String, Set<String>> attributes) {
        List<MethodLimits.Name> ofMethods = methods.stream()
                .filter(Predicate.not(MethodLimits::isClient))
                .map(MethodLimits::name)
                .toList();
        for (String name : general.names()) {
            boolean ofPolicy = name.startsWith(ConfigReader.POLICIES);
            // An unreadable value is a problem even if no reader asks for it.
            (ofPolicy ? ofPolicies : general).text(name);
            // The reader of the clients checks their names.
            if (name.startsWith(MethodCosts.PREFIX)) {
                checkMethod(name, ofMethods);
            } else if (!ofPolicy && !name.startsWith(ConfigKeys.CLIENTS) && !PROPERTIES.contains(name)) {
                general.report(unknown(name));
            }
        }
        return checkAttributes(attributes);
    }

    private static ConfigurationProblem unknown(String name) {
        return Spelling.nearest(
                        name.substring(BEGINNING.length()),
                        PROPERTIES.stream()
                                .map(known -> known.substring(BEGINNING.length()))
                                .toList())
                .map(near -> MESSAGES.problem("WEIR-114.near", name, "", BEGINNING + near, PROPERTIES))
                .orElseGet(() -> MESSAGES.problem("WEIR-114", name, "", PROPERTIES));
    }

    private void checkMethod(String name, List<MethodLimits.Name> methods) {
        // Other quotes, as around the class only, make a name that is not read.
        String method = QuotedName.unquoted(name.substring(MethodCosts.PREFIX.length()));
        if (methods.stream().noneMatch(known -> known.forms().contains(method))) {
            Set<String> texts =
                    methods.stream().map(MethodLimits.Name::text).collect(Collectors.toCollection(TreeSet::new));
            general.report(MESSAGES.problem("WEIR-113", name, "", method, texts));
        }
    }

    private Map<String, List<ConfigurationProblem>> checkAttributes(Map<String, Set<String>> attributes) {
        Map<String, List<ConfigurationProblem>> misspelled = new TreeMap<>();
        attributes.forEach((policy, given) -> given.removeIf(attribute -> {
            Optional<QuotedName> meant = new QuotedName(policy, attribute).dotted();
            if (ConfigKeys.isPolicyAttribute(attribute)) {
                return false;
            }
            String property = ConfigReader.POLICIES + policy + "." + attribute;
            ConfigurationProblem problem = meant.map(name -> MESSAGES.problem(
                            "WEIR-115.quotes", property, "", name.name(), name.attribute(), ATTRIBUTES))
                    .or(() -> Spelling.nearest(attribute, ATTRIBUTES)
                            .map(near -> MESSAGES.problem("WEIR-115.near", property, "", near, ATTRIBUTES)))
                    .orElseGet(() -> MESSAGES.problem("WEIR-115", property, "", ATTRIBUTES));
            Stream.concat(Stream.of(policy), meant.map(QuotedName::name).stream())
                    .forEach(name -> misspelled
                            .computeIfAbsent(name, first -> new ArrayList<>())
                            .add(problem));
            ofPolicies.report(problem);
            return meant.isPresent();
        }));
        // Without this, a part of a name would be a policy without a limit.
        attributes.values().removeIf(Set::isEmpty);
        return misspelled;
    }
}
