// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.core.key.Spelling;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The environment variables that can set properties. A variable can set several, because it lacks characters by which names differ. Any
 * other variable that begins with {@code RATELIMIT_} is probably misspelled.
 */
public final class EnvironmentCheck {
    /** Kubernetes sets such variables for a service whose name begins with {@code ratelimit}. */
    private static final Pattern OF_SERVICE = Pattern.compile(
            ConfigKeys.VARIABLES + "(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\\d+_(TCP|UDP|SCTP)(_.*)?)?)");

    private static final List<ConfigKey<?>> OF_TIERS =
            List.of(ConfigKeys.TIER_LIMIT, ConfigKeys.TIER_BURST, ConfigKeys.TIER_CONCURRENCY);

    /** The properties of each variable. */
    private final Map<String, Set<String>> properties = new TreeMap<>();

    /** Creates a check for the limited methods, as {@code Class.method}, the REST clients and the properties that are set. */
    public EnvironmentCheck(
            Collection<String> policies,
            Collection<String> endpoints,
            Collection<String> clients,
            Collection<String> names) {
        for (String name : names) {
            add(name);
            addTier(name, policies);
        }
        for (ConfigKey<?> key : ConfigKeys.all()) {
            if (key.equals(ConfigKeys.METHOD_COST)) {
                endpoints.forEach(endpoint -> add(key.name().replace("\"Class.method\"", '"' + endpoint + '"')));
                endpoints.forEach(endpoint -> add(key.name().replace("\"Class.method\"", endpoint)));
            } else if (key.isOfClient()) {
                clients.forEach(client -> add(key.of(client).name()));
            } else if (!key.isOfPolicy()) {
                add(key.name());
            } else if (key.attribute().indexOf('<') < 0) {
                // A variable alone names neither a tier nor the path of a cost.
                policies.forEach(policy -> addOfPolicy(key.name(), policy));
            }
        }
    }

    /** Adds all properties of a tier that a property names. */
    private void addTier(String property, Collection<String> policies) {
        if (property.startsWith(ConfigReader.POLICIES)) {
            QuotedName.parse(property.substring(ConfigReader.POLICIES.length()), policies)
                    .ifPresent(parts -> OF_TIERS.stream()
                            .flatMap(key -> key.variable(parts.attribute()).stream())
                            .forEach(tier -> OF_TIERS.forEach(
                                    key -> addOfPolicy(key.name().replace("<t>", tier), parts.name()))));
        }
    }

    /** Adds a property of a policy. Only a name without dots needs no quotes. */
    private void addOfPolicy(String property, String policy) {
        add(property.replace("<p>", '"' + policy + '"'));
        if (policy.indexOf('.') < 0) {
            add(property.replace("<p>", policy));
        }
    }

    private void add(String property) {
        properties
                .computeIfAbsent(ConfigKeys.variable(property), first -> new TreeSet<>())
                .add(property);
    }

    /** Tests whether a variable can belong to a policy or a method that is not known. */
    public static boolean isOfPolicy(String variable) {
        return variable.startsWith(ConfigKeys.VARIABLES + "POLICIES_")
                || variable.startsWith(ConfigKeys.VARIABLES + "COSTS_");
    }

    /** Returns the properties that a variable sets, in alphabetical order. */
    public Set<String> properties(String variable) {
        return properties.getOrDefault(variable, Set.of());
    }

    /** Returns the variables that begin with {@link ConfigKeys#VARIABLES} and match no property, in alphabetical order. */
    public List<String> unknown(Collection<String> variables) {
        return variables.stream()
                .filter(variable -> variable.startsWith(ConfigKeys.VARIABLES)
                        && !properties.containsKey(variable)
                        && !OF_SERVICE.matcher(variable).matches())
                .sorted()
                .toList();
    }

    /** Returns the variable that was probably meant by one that matches no property; empty if none differs little. */
    public Optional<String> nearest(String unknown) {
        return Spelling.nearest(
                        unknown.substring(ConfigKeys.VARIABLES.length()),
                        properties.keySet().stream()
                                .map(name -> name.substring(ConfigKeys.VARIABLES.length()))
                                .toList())
                .map(ConfigKeys.VARIABLES::concat);
    }
}
