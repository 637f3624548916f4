// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

/**
 * The origin of an attribute of a policy. The source is a configuration source, the place of an annotation such as
 * {@code com.example.Search.find(String)}, or {@value #DEFAULT}.
 */
public record Origin(String property, String value, String source) {
    public static final String DEFAULT = "default";

    /** Masks secrets in the name of the source. */
    public Origin {
        source = ConfigProperties.Sources.masked(source);
    }

    public boolean isDefault() {
        return source.equals(DEFAULT);
    }

    /** Tests whether a runtime change determines the value; false for a value of the configuration, of an annotation or a default. */
    public boolean isChange() {
        return source.startsWith(ConfigProperties.CHANGE);
    }

    /** Returns the attribute of the property, such as {@code limit} or {@code tiers.gold.limit}. */
    public String attribute() {
        return QuotedName.parse(property.substring(ConfigReader.POLICIES.length()))
                .map(QuotedName::attribute)
                .orElse(property);
    }
}
