// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A loader of all policies from the configuration and the annotations. */
public final class PolicyLoader {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._$-]{1,128}");

    private final ConfigProperties config;
    private final Resolvers resolvers;

    /** The problems that do not belong to one policy. */
    private final Problems general = new Problems();

    private final Problems ofPolicies = new Problems();
    private final ConfigReader reader;
    private final Map<String, Policy> policies = new LinkedHashMap<>();
    private final Map<String, List<ConfigurationProblem>> invalid = new TreeMap<>();
    private final Map<String, List<Origin>> origins = new HashMap<>();

    private PolicyLoader(ConfigProperties config, Resolvers resolvers) {
        this.config = config;
        this.resolvers = resolvers;
        this.reader = new ConfigReader(config, general);
    }

    public static LoadedPolicies load(
            ConfigProperties config, Collection<MethodLimits> methods, Resolvers resolvers, Problems problems) {
        PolicyLoader loader = new PolicyLoader(config, resolvers);
        loader.load(methods);
        problems.addAll(loader.general.found());
        problems.addAll(loader.ofPolicies.found());
        return new LoadedPolicies(
                loader.policies, loader.invalid, loader.general.found().isEmpty(), loader.origins);
    }

    private void load(Collection<MethodLimits> methods) {
        Map<String, Set<String>> attributes = reader.policies(
                methods.stream().flatMap(method -> method.policies().stream()).collect(Collectors.toSet()));
        invalid.putAll(
                new UnknownPropertyCheck(reader, new ConfigReader(config, ofPolicies)).check(methods, attributes));
        Map<String, MethodLimits.InlinePolicy> inlinePolicies = inlinePolicies(methods);
        places(methods, attributes.keySet())
                .forEach((name, place) -> load(
                        name,
                        place,
                        attributes.getOrDefault(name, Set.of()),
                        Optional.ofNullable(inlinePolicies.get(name))));
    }

    /** Finds the names of all policies, each with the first place that mentions it. */
    private Map<String, String> places(Collection<MethodLimits> methods, Set<String> configured) {
        Map<String, String> places = new TreeMap<>();
        configured.forEach(name -> places.put(name, reader.policy(name).place()));
        reader.optional(ConfigKeys.PATH_POLICIES)
                .orElse(List.of())
                .forEach(name -> places.putIfAbsent(name, ConfigKeys.PATH_POLICIES.name()));
        methods.forEach(method -> method.policies().forEach(name -> places.putIfAbsent(name, place(method))));
        return places;
    }

    private static String place(MethodLimits method) {
        return method.isClient()
                ? ConfigKeys.CLIENT_POLICY
                        .of(method.endpoint().substring(MethodLimits.CLIENT.length()))
                        .name()
                : method.endpoint();
    }

    private void load(
            String name, String place, Set<String> attributes, Optional<MethodLimits.InlinePolicy> inlinePolicy) {
        Problems problems = new Problems();
        if (NAME.matcher(name).matches()) {
            PolicyProperties properties = new ConfigReader(config, problems).policy(name);
            new PolicyReader(properties, resolvers, place, inlinePolicy)
                    .read(attributes)
                    .ifPresent(policy -> {
                        policies.put(name, policy);
                        origins.put(name, new OriginReader(properties, inlinePolicy).read(attributes, policy));
                    });
        } else {
            problems.add(MESSAGES.problem("WEIR-105", place, name));
        }
        if (!problems.found().isEmpty()) {
            invalid.computeIfAbsent(name, first -> new ArrayList<>()).addAll(problems.found());
        }
        ofPolicies.addAll(problems.found());
    }

    /** Collects the policies that annotations define, and reports definitions that contradict each other. */
    private Map<String, MethodLimits.InlinePolicy> inlinePolicies(Collection<MethodLimits> methods) {
        Map<String, MethodLimits.InlinePolicy> definitions = new LinkedHashMap<>();
        Map<String, String> definedBy = new HashMap<>();
        for (MethodLimits method : methods) {
            method.inlinePolicy().ifPresent(defined -> {
                MethodLimits.InlinePolicy other = definitions.putIfAbsent(defined.policy(), defined);
                String first =
                        definedBy.putIfAbsent(defined.policy(), method.name().full());
                boolean unnamed = defined.policy().equals(method.name().simple());
                if (other != null
                        && !(other.place().equals(defined.place())
                                && method.name().full().equals(first))
                        && (unnamed || !defined.hasSameAttributesAs(other))) {
                    general.add(MESSAGES.problem("WEIR-106", defined.place(), defined.policy(), other.place()));
                }
            });
        }
        return definitions;
    }
}
