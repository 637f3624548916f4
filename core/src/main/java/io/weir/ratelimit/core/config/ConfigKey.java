// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.message.MessageCatalog;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A property, or a family of properties whose names have variable parts in angle brackets: {@code ratelimit.policies.<p>.limit}.
 *
 * @param defaultText the default as the reference shows it; empty if there is none
 */
public record ConfigKey<T>(
        String name, Optional<T> defaultValue, String defaultText, ValueForm<T> form, String meaning) {
    /** The beginning of the names of all properties of a policy. */
    static final String POLICY = "ratelimit.policies.<p>.";

    /** The beginning of the names of all properties of a REST client. */
    static final String CLIENT = "ratelimit.clients.<c>.";

    private static final Pattern VARIABLE = Pattern.compile("<\\w+>");

    public boolean isOfPolicy() {
        return name.startsWith(POLICY);
    }

    public boolean isOfClient() {
        return name.startsWith(CLIENT);
    }

    /**
     * Tests whether a name belongs to this property or to this family. The name of a policy may contain dots without quotes, and a path of
     * a cost never is a part of another attribute.
     */
    boolean isNameOf(String full) {
        String[] fixed = VARIABLE.split(name, -1);
        int end = fixed.length - 1;
        return full.startsWith(fixed[0])
                && full.endsWith(fixed[end])
                && (end == 0
                        ? full.length() == name.length()
                        : full.length() > fixed[0].length() + fixed[end].length() && !full.contains(".costs."));
    }

    /** Tests whether an environment variable sets a property of this family. */
    public boolean isSetBy(String variable) {
        String[] fixed = VARIABLE.split(name, -1);
        String first = ConfigKeys.variable(fixed[0]);
        String last = ConfigKeys.variable(fixed[fixed.length - 1]);
        return variable.startsWith(first)
                && variable.endsWith(last)
                && variable.length() > first.length() + last.length();
    }

    /** Returns the property of the member of the family with a value of the first variable part. */
    public ConfigKey<T> of(String value) {
        return new ConfigKey<>(
                VARIABLE.matcher(name).replaceFirst(Matcher.quoteReplacement(value)),
                defaultValue,
                defaultText,
                form,
                meaning);
    }

    /** Returns the part of the name after the name of the policy, such as {@code limit} or {@code tiers.<t>.limit}. */
    public String attribute() {
        return name.substring(POLICY.length());
    }

    /** Returns the attribute with its variable part filled in, such as {@code tiers.gold.limit}. */
    public String attribute(String value) {
        return VARIABLE.matcher(attribute()).replaceFirst(Matcher.quoteReplacement(value));
    }

    /**
     * Returns the variable part, such as {@code gold}, of an attribute such as {@code tiers.gold.limit}; empty if the attribute is not one
     * of this family.
     */
    public Optional<String> variable(String attribute) {
        String[] fixed = VARIABLE.split(attribute(), -1);
        boolean matches = fixed.length == 2
                && attribute.length() > fixed[0].length() + fixed[1].length()
                && attribute.startsWith(fixed[0])
                && attribute.endsWith(fixed[1]);
        return matches
                ? Optional.of(attribute.substring(fixed[0].length(), attribute.length() - fixed[1].length()))
                : Optional.empty();
    }

    /** Returns the warning that this property has no effect without another one, which the example would set. */
    public MessageCatalog.Message withoutEffect(ConfigKey<?> needed, String example) {
        return MESSAGES.message("WEIR-015", name, needed.name, example);
    }
}
