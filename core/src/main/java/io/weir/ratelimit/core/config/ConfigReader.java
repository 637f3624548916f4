// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A reader of typed properties. It collects invalid values as problems and goes on with their defaults. */
public record ConfigReader(ConfigProperties config, Problems problems) {
    private static final Pattern DURATION = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");
    private static final Map<String, Duration> UNITS = Map.of(
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "m", Duration.ofMinutes(1),
            "h", Duration.ofHours(1),
            "d", Duration.ofDays(1));

    /** The prefix of the properties of policies. */
    public static final String POLICIES = "ratelimit.policies.";

    public void report(ConfigurationProblem problem) {
        problems.add(problem);
    }

    /** Reads a property as text without blanks around it; empty if it is not set or not readable. */
    public Optional<String> text(String property) {
        ConfigProperties.Property value = config.get(property);
        if (!value.readable()) {
            report(unreadable(property, value));
        }
        return value.value().map(String::strip);
    }

    private static ConfigurationProblem unreadable(String property, ConfigProperties.Property value) {
        if (!value.sources().isEmpty()) {
            return MESSAGES.problem("WEIR-101.sources", property, "", String.join(", ", value.sources()));
        }
        return value.unset().isEmpty()
                ? MESSAGES.problem("WEIR-101", property, "")
                : MESSAGES.problem("WEIR-101.unset", property, "", String.join(", ", value.unset()));
    }

    /** Tests whether a property can be read. If it cannot, reading it is a problem of its own. */
    public boolean isReadable(String property) {
        return config.get(property).readable();
    }

    /** Reads a property that has a default. */
    public <T> T value(ConfigKey<T> key) {
        return value(key.name(), key);
    }

    /** Reads a property that has a default and a problem of its own for an invalid text. */
    public <T> T value(ConfigKey<T> key, Function<String, ConfigurationProblem> invalid) {
        return value(key.name(), key, invalid);
    }

    /** Reads a property that has no default. */
    public <T> Optional<T> optional(ConfigKey<T> key) {
        return optional(key.name(), key.form());
    }

    /** Reads a property that has no default. */
    public <T> Optional<T> optional(String property, ValueForm<T> form) {
        return parsed(
                property, form, (text, reason) -> MESSAGES.problem("WEIR-102.no-default", property, text, reason));
    }

    /** Reads a property that has no default and a problem of its own for an invalid text and its reason. */
    public <T> Optional<T> optional(ConfigKey<T> key, BiFunction<String, String, ConfigurationProblem> invalid) {
        return parsed(key.name(), key.form(), invalid);
    }

    <T> T value(String property, ConfigKey<T> key) {
        return parsed(property, key.form(), (text, reason) -> MESSAGES.problem("WEIR-102", property, text, reason))
                .orElseGet(key.defaultValue()::orElseThrow);
    }

    <T> T value(String property, ConfigKey<T> key, Function<String, ConfigurationProblem> invalid) {
        return parsed(property, key.form(), (text, reason) -> invalid.apply(text))
                .orElseGet(key.defaultValue()::orElseThrow);
    }

    private <T> Optional<T> parsed(
            String property, ValueForm<T> form, BiFunction<String, String, ConfigurationProblem> invalid) {
        Optional<String> text = text(property);
        try {
            return text.map(form::parse);
        } catch (IllegalArgumentException e) {
            report(invalid.apply(text.orElse(""), String.valueOf(e.getMessage())));
            return Optional.empty();
        }
    }

    /** Returns the names of the properties, without those that only environment variables define. */
    public Set<String> names() {
        return config.names();
    }

    public PolicyProperties policy(String policy) {
        return new PolicyProperties(this, policy);
    }

    /**
     * Lists the policies that properties name. A name that is no property of a policy is a problem.
     *
     * @param known the names of policies that code defines; one that contains dots needs no quotes, because some formats lose them
     */
    public Map<String, Set<String>> policies(Collection<String> known) {
        Map<String, Set<String>> policies = new LinkedHashMap<>();
        for (String name : names()) {
            if (name.startsWith(POLICIES)) {
                QuotedName.parse(name.substring(POLICIES.length()), known)
                        .ifPresentOrElse(
                                parts -> policies.computeIfAbsent(parts.name(), first -> new TreeSet<>())
                                        .add(parts.attribute()),
                                () -> report(MESSAGES.problem("WEIR-103", name, "")));
            }
        }
        return policies;
    }

    /** Splits a list at its commas, without blank elements. */
    public static List<String> list(String text) {
        return Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(element -> !element.isEmpty())
                .toList();
    }

    /**
     * Parses a duration, zero or more: {@code 500ms}, {@code 10s}, {@code 1m}, {@code 24h}, {@code 7d}.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static Duration duration(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a duration: use a whole number with ms, s, m, h or d, for example 10s");
        }
        Duration unit = UNITS.getOrDefault(matcher.group(2), Duration.ZERO);
        try {
            return unit.multipliedBy(Long.parseLong(matcher.group(1)));
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("\"" + text + "\" is too long", e);
        }
    }
}
