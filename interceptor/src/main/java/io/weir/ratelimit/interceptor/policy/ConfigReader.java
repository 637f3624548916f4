// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;

/** Reads properties and turns what is wrong with one into a problem, so that reading goes on. */
final class ConfigReader {
    static final String PREFIX = "ratelimit.";
    private static final String POLICIES = PREFIX + "policies.";

    private final Config config;
    private final Problems problems;

    ConfigReader(Config config, Problems problems) {
        this.config = config;
        this.problems = problems;
    }

    Optional<String> text(String property) {
        try {
            Optional<String> text = config.getOptionalValue(property, String.class);
            if (text.isPresent() || !isUnresolved(config.getConfigValue(property))) {
                return text.map(String::strip);
            }
        } catch (IllegalArgumentException | NoSuchElementException e) {
            // reported below
        }
        problems.add("WEIR-101", property, "", "the value cannot be read", "check the expressions it refers to");
        return Optional.empty();
    }

    /** The name of the source of a property that has a value. */
    String source(String property) {
        String source = config.getConfigValue(property).getSourceName();
        return source == null || source.isBlank() ? "configuration" : source;
    }

    /** An expression that leads nowhere is no value to an optional property, and a secret or a limit would be silently off. */
    private static boolean isUnresolved(ConfigValue value) {
        return value.getValue() == null && value.getRawValue() != null;
    }

    /** The value in another form, or the default if there is none or it is wrong. */
    <T> T value(String property, T defaultValue, Function<String, T> parser) {
        return parsed(property, parser, "correct it or leave it out for the default")
                .orElse(defaultValue);
    }

    /** The value in another form, of a property without a default. */
    <T> Optional<T> optional(String property, Function<String, T> parser) {
        return parsed(property, parser, "correct it");
    }

    private <T> Optional<T> parsed(String property, Function<String, T> parser, String remedy) {
        Optional<String> text = text(property);
        try {
            return text.map(parser);
        } catch (IllegalArgumentException e) {
            problems.add("WEIR-102", property, text.orElse(""), message(e), remedy);
            return Optional.empty();
        }
    }

    <E extends Enum<E>> Optional<E> oneOf(String property, E[] choices, Function<E, String> nameOf) {
        return parsed(
                property,
                text -> Arrays.stream(choices)
                        .filter(choice -> nameOf.apply(choice).equals(text))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("must be one of "
                                + Arrays.stream(choices).map(nameOf).collect(Collectors.joining(", ")))),
                "correct it or leave it out for the default");
    }

    boolean flag(String property, boolean defaultValue) {
        return value(property, defaultValue, text -> switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("must be true or false");
        });
    }

    int number(String property, int defaultValue, int least, int most) {
        return value(property, defaultValue, text -> {
            if (!text.matches("\\d{1,9}") || Integer.parseInt(text) < least || Integer.parseInt(text) > most) {
                throw new IllegalArgumentException("must be a whole number from " + least + " to " + most);
            }
            return Integer.parseInt(text);
        });
    }

    /** The property of a policy, whose name is quoted where it has dots. */
    String policyProperty(String policy, String attribute) {
        String quoted = POLICIES + '"' + policy + "\"." + attribute;
        return policy.indexOf('.') >= 0 || text(quoted).isPresent() ? quoted : POLICIES + policy + "." + attribute;
    }

    /**
     * The names below {@code ratelimit.}. Those that only the environment gives are left out: there is no way back from {@code
     * RATELIMIT_POLICIES_A_B_LIMIT} to a name, and servers guess differently.
     */
    Set<String> names() {
        Set<String> names = new TreeSet<>();
        // A name may be given for the active profile only: %prod.ratelimit.policies.api.limit.
        String profile =
                "%" + config.getOptionalValue("mp.config.profile", String.class).orElse("") + ".";
        for (ConfigSource source : config.getConfigSources()) {
            if (!isEnvironment(source)) {
                source.getPropertyNames().stream()
                        .map(name -> name.startsWith(profile) ? name.substring(profile.length()) : name)
                        .filter(name -> name.startsWith(PREFIX))
                        .forEach(names::add);
            }
        }
        return names;
    }

    private static boolean isEnvironment(ConfigSource source) {
        return source.getClass().getSimpleName().startsWith("Env")
                || source.getName().startsWith("Env");
    }

    /** The policies that properties name, each with the attributes given for it; names in quotes may have dots. */
    Map<String, Set<String>> policies() {
        Map<String, Set<String>> policies = new LinkedHashMap<>();
        for (String name : names()) {
            if (name.startsWith(POLICIES)) {
                split(name.substring(POLICIES.length()))
                        .ifPresentOrElse(
                                parts -> policies.computeIfAbsent(parts.name(), p -> new TreeSet<>())
                                        .add(parts.attribute()),
                                () -> problems.add(
                                        "WEIR-103",
                                        name,
                                        "",
                                        "is no property of a policy",
                                        "write ratelimit.policies.<name>.<attribute>, with the name in quotes if it has dots"));
            }
        }
        return policies;
    }

    record Quoted(String name, String attribute) {}

    /** Splits {@code api.limit} and {@code "Class.method".limit}. */
    static Optional<Quoted> split(String text) {
        int end;
        int start;
        if (text.startsWith("\"")) {
            start = 1;
            end = text.indexOf("\".", 1);
        } else {
            start = 0;
            end = text.indexOf('.');
        }
        int attribute = end + 1 + start;
        return end <= start || attribute >= text.length()
                ? Optional.empty()
                : Optional.of(new Quoted(text.substring(start, end), text.substring(attribute)));
    }

    /** What stands between commas. */
    static List<String> list(String text) {
        return Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(one -> !one.isEmpty())
                .toList();
    }

    /** A name without the quotes that it may stand in. */
    static String unquoted(String text) {
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
    }

    private static String message(Exception e) {
        return Optional.ofNullable(e.getMessage()).orElse("is not understood");
    }
}
