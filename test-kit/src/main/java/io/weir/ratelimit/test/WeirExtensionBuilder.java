// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.TierResolver;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A builder of a {@link WeirExtension}, for what the annotation {@link WeirTest} cannot state. Resolvers and sources that the builder
 * receives run without a container; in a container they are beans.
 */
public final class WeirExtensionBuilder {
    private final Map<String, String> properties = new HashMap<>();
    private final List<Class<?>> beans = new ArrayList<>();
    private final List<Class<?>> packages = new ArrayList<>();
    private final Map<String, KeyResolver> keys = new HashMap<>();
    private final Map<String, TierResolver> tiers = new HashMap<>();
    private final List<PolicySource> sources = new ArrayList<>();
    private Instant now = Instant.parse(WeirTest.DEFAULT_NOW);
    private boolean resets = true;
    private boolean container = true;
    private @Nullable String redis;

    WeirExtensionBuilder() {}

    /**
     * Sets a property.
     *
     * @param name the name, such as {@code ratelimit.instances}
     * @param value the value
     * @return this builder
     */
    public WeirExtensionBuilder property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    /**
     * Sets the limits of a policy.
     *
     * @param policy the name of the policy
     * @param limit the limits, such as {@code 5/10s}
     * @return this builder
     */
    public WeirExtensionBuilder policy(String policy, String limit) {
        return property("ratelimit.policies." + policy + ".limit", limit);
    }

    /**
     * Sets the first time of the clock.
     *
     * @param first an instant from the year 2025 on
     * @return this builder
     */
    public WeirExtensionBuilder now(Instant first) {
        now = first;
        return this;
    }

    /**
     * Lets the tests of the class share one state.
     *
     * @return this builder
     */
    public WeirExtensionBuilder withoutReset() {
        resets = false;
        return this;
    }

    /**
     * Adds bean classes, like {@link WeirTest#beans()}.
     *
     * @param types the classes
     * @return this builder
     */
    public WeirExtensionBuilder beans(Class<?>... types) {
        beans.addAll(List.of(types));
        return this;
    }

    /**
     * Adds the beans of packages, like {@link WeirTest#packages()}.
     *
     * @param types one class of each package
     * @return this builder
     */
    public WeirExtensionBuilder packages(Class<?>... types) {
        packages.addAll(List.of(types));
        return this;
    }

    /**
     * Lets the engine run without a container, like {@link WeirTest#container()}.
     *
     * @return this builder
     */
    public WeirExtensionBuilder withoutContainer() {
        container = false;
        return this;
    }

    /**
     * Lets a Redis decide, like {@link WeirTest#redis()}.
     *
     * @param addressOrImage an address such as {@code redis://localhost:6379}, or the name of an image
     * @return this builder
     */
    public WeirExtensionBuilder redis(String addressOrImage) {
        redis = addressOrImage;
        return this;
    }

    /**
     * Adds a key resolver.
     *
     * @param name the name in key expressions
     * @param resolver the resolver
     * @return this builder
     */
    public WeirExtensionBuilder keyResolver(String name, KeyResolver resolver) {
        keys.put(name, resolver);
        return this;
    }

    /**
     * Adds a tier resolver.
     *
     * @param name the name in {@code tier-resolver}
     * @param resolver the resolver
     * @return this builder
     */
    public WeirExtensionBuilder tierResolver(String name, TierResolver resolver) {
        tiers.put(name, resolver);
        return this;
    }

    /**
     * Adds a source of limits of single keys.
     *
     * @param source the source
     * @return this builder
     */
    public WeirExtensionBuilder policySource(PolicySource source) {
        sources.add(source);
        return this;
    }

    /**
     * Creates the extension.
     *
     * @return the extension
     */
    public WeirExtension build() {
        return new WeirExtension(new Setup(
                properties, now, resets, beans, packages, container, Optional.ofNullable(redis), keys, tiers, sources));
    }
}
