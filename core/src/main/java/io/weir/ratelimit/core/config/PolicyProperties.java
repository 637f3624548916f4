// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Optional;
import java.util.function.Function;

/**
 * The properties of one policy.
 *
 * @param policy the name of the policy without quotes
 */
public record PolicyProperties(ConfigReader reader, String policy) {
    /** Returns the common beginning of the names of the properties, for problems that concern several attributes. */
    public String place() {
        return ConfigReader.POLICIES + policy;
    }

    /**
     * Returns the full name of an attribute such as {@code limit}. The name of the policy is in quotes if the configuration quotes it, or
     * if it contains dots and no property has it unquoted.
     */
    public String name(String attribute) {
        String quoted = ConfigReader.POLICIES + '"' + policy + "\"." + attribute;
        String plain = place() + "." + attribute;
        boolean quotes = policy.indexOf('.') >= 0 && !reader.names().contains(plain);
        return quotes || reader.text(quoted).isPresent() ? quoted : plain;
    }

    public String name(ConfigKey<?> key) {
        return name(key.attribute());
    }

    /** Reads a property as text. */
    public Optional<String> text(ConfigKey<?> key) {
        return reader.text(name(key));
    }

    /** Reads a property as text. */
    public Optional<String> text(String property) {
        return reader.text(property);
    }

    /** Reads a property that has a default. */
    public <T> T value(ConfigKey<T> key) {
        return reader.value(name(key), key);
    }

    /** Reads a property that has a default and a problem of its own for an invalid text. */
    public <T> T value(ConfigKey<T> key, Function<String, ConfigurationProblem> invalid) {
        return reader.value(name(key), key, invalid);
    }

    /** Reads a property that has no default. */
    public <T> Optional<T> optional(ConfigKey<T> key) {
        return reader.optional(name(key), key.form());
    }

    /** Reads a property of a form that the table does not have, with a parser of the text. */
    public <T> Optional<T> optional(String property, Function<String, T> parser) {
        return reader.optional(property, new ValueForm<>("", parser));
    }

    /** Reads a property of a family. */
    public <T> Optional<T> optional(String property, ConfigKey<T> key) {
        return reader.optional(property, key.form());
    }

    /** Tests whether a property can be read. If it cannot, reading it is a problem of its own. */
    public boolean isReadable(String property) {
        return reader.isReadable(property);
    }

    public void report(ConfigurationProblem problem) {
        reader.report(problem);
    }
}
