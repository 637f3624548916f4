// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/** The properties of a MicroProfile configuration. */
public record MicroProfileProperties(Config config, Set<String> environment, List<ConfigurationProblem> problems)
        implements ConfigProperties {
    /** The beginning of the names of all properties. */
    static final String PREFIX = "ratelimit.";

    /** An expression without a default. */
    private static final Pattern EXPRESSION = Pattern.compile("\\$\\{([^${}:]+)}");

    public MicroProfileProperties {
        environment = Set.copyOf(environment);
        problems = List.copyOf(problems);
    }

    /** Creates the properties of a configuration in this process. */
    public MicroProfileProperties(Config config) {
        this(config, System.getenv().keySet(), List.of());
    }

    @Override
    public ConfigProperties.Property get(String name) {
        try {
            Optional<String> value = config.getOptionalValue(name, String.class);
            if (value.isPresent()) {
                return ConfigProperties.Property.of(value.get());
            }
            // MicroProfile Config treats an unresolved expression in an optional property as no value. Without this
            // test, a secret or a limit would be missing without a message.
            ConfigValue unresolved = config.getConfigValue(name);
            return unresolved.getRawValue() == null || unresolved.getValue() != null
                    ? ConfigProperties.Property.ABSENT
                    : ConfigProperties.Property.unresolved(unset(unresolved.getRawValue()));
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return ConfigProperties.Property.UNREADABLE;
        }
    }

    private List<String> unset(String text) {
        return EXPRESSION
                .matcher(text)
                .results()
                .map((MatchResult expression) -> expression.group(1))
                .filter(name -> config.getConfigValue(name).getValue() == null)
                .distinct()
                .toList();
    }

    @Override
    public String source(String name) {
        String source = config.getConfigValue(name).getSourceName();
        return source == null || source.isBlank() ? "configuration" : source;
    }

    @Override
    public int ordinal(String name) {
        try {
            return config.getConfigValue(name).getSourceOrdinal();
        } catch (IllegalArgumentException | NoSuchElementException e) { // an expression that cannot be resolved
            return 0;
        }
    }

    /** Lists the names that the sources list, and those that the configuration adds: it knows its active profiles. */
    @Override
    public Set<String> names() {
        Set<String> names = new TreeSet<>();
        Set<String> ofOtherProfiles = new HashSet<>();
        // A name can be set for a profile only: %prod.ratelimit.policies.api.limit. Not every configuration lists such
        // a name.
        String profile =
                "%" + config.getOptionalValue("mp.config.profile", String.class).orElse("") + ".";
        for (ConfigSource source : config.getConfigSources()) {
            Set<String> listed = source.getPropertyNames();
            if (!isEnvironment(listed, environment)) {
                for (String name : listed) {
                    String plain = withoutProfile(name);
                    boolean active = plain.length() == name.length() || name.equals(profile + plain);
                    (active ? names : ofOtherProfiles).add(plain);
                }
            }
        }
        Set<String> variables = variables(environment);
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(PREFIX)
                    && !names.contains(name)
                    && (ofOtherProfiles.contains(name) || !isSetBy(variables, name))
                    && raw(name) != null) {
                names.add(name);
            }
        }
        names.removeIf(name -> !name.startsWith(PREFIX));
        return names;
    }

    /**
     * Tests whether a source has the environment variables. Its class and its name do not tell: an application can have a source of any
     * name. A configuration can add names that it derives from the variables.
     */
    static boolean isEnvironment(Set<String> names, Set<String> environment) {
        if (names.isEmpty() || !names.containsAll(environment)) {
            return false;
        }
        Set<String> variables = variables(environment);
        return names.stream().allMatch(name -> variables.contains(ConfigKeys.variable(name)));
    }

    private static Set<String> variables(Set<String> environment) {
        return environment.stream().map(ConfigKeys::variable).collect(Collectors.toSet());
    }

    /** Tests whether a variable sets a property, for all profiles or for one. */
    private static boolean isSetBy(Set<String> variables, String name) {
        String variable = ConfigKeys.variable(name);
        return variables.contains(variable)
                || variables.stream().anyMatch(each -> each.startsWith("_") && each.endsWith("_" + variable));
    }

    /** Returns the value without resolved expressions, null if there is none. */
    private @Nullable String raw(String name) {
        try {
            return config.getConfigValue(name).getRawValue();
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return "";
        }
    }

    /** Returns the variables of this library without those that an expression of the configuration or a Redisson file can use. */
    Set<String> ownVariables() {
        Set<String> own = new TreeSet<>(environment);
        own.removeIf(variable -> !variable.startsWith(ConfigKeys.VARIABLES));
        if (own.isEmpty()) {
            return own;
        }
        if (config.getOptionalValue(ConfigKeys.REDIS_CONFIG.name(), String.class)
                .isPresent()) {
            own.removeIf(variable -> variable.startsWith(ConfigKeys.VARIABLES + "REDIS_"));
        }
        for (String name : config.getPropertyNames()) {
            String raw = raw(name);
            own.removeIf(variable -> raw != null && raw.contains("${" + variable));
        }
        return own;
    }

    private static String withoutProfile(String name) {
        int end = name.startsWith("%") ? name.indexOf("." + PREFIX) : -1;
        return end < 0 ? name : name.substring(end + 1);
    }
}
