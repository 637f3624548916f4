// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TierResolver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** A builder of a {@link Weir} in plain Java. */
public final class WeirBuilder {
    private final Map<String, String> properties = new HashMap<>();
    private final List<Object> objects = new ArrayList<>();
    private final Map<String, KeyResolver> keys = new HashMap<>();
    private final Map<String, TierResolver> tiers = new HashMap<>();

    WeirBuilder() {}

    /**
     * Sets a property.
     *
     * @param name the name, such as {@code ratelimit.policies.api.limit}
     * @param value the value; one with an expression, such as {@code ${name}}, is an error, because nothing resolves it
     * @return this builder
     */
    public WeirBuilder property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    /**
     * Sets properties.
     *
     * @param values the values by name; one with an expression is an error
     * @return this builder
     */
    public WeirBuilder properties(Map<String, String> values) {
        properties.putAll(values);
        return this;
    }

    /**
     * Sets the properties of a file that {@link Properties#load} has read.
     *
     * @param file the properties, with their defaults
     * @return this builder
     */
    public WeirBuilder properties(Properties file) {
        file.stringPropertyNames().forEach(name -> properties.put(name, file.getProperty(name)));
        return this;
    }

    /**
     * Adds a backend, which {@code ratelimit.backend} can select by its name. The application closes it.
     *
     * @param backend the backend
     * @return this builder
     */
    public WeirBuilder backend(RateLimitBackend backend) {
        objects.add(backend);
        return this;
    }

    /**
     * Adds a listener of decisions.
     *
     * @param listener the listener
     * @return this builder
     */
    public WeirBuilder listener(DecisionListener listener) {
        objects.add(listener);
        return this;
    }

    /**
     * Adds a source of limits for single keys.
     *
     * @param source the source
     * @return this builder
     */
    public WeirBuilder source(PolicySource source) {
        objects.add(source);
        return this;
    }

    /**
     * Adds a plug-in.
     *
     * @param plugin the plug-in
     * @return this builder
     */
    public WeirBuilder plugin(Plugin plugin) {
        objects.add(plugin);
        return this;
    }

    /**
     * Adds a key resolver.
     *
     * @param name the name that key expressions use
     * @param resolver the resolver
     * @return this builder
     */
    public WeirBuilder keyResolver(String name, KeyResolver resolver) {
        keys.put(name, resolver);
        return this;
    }

    /**
     * Adds a tier resolver.
     *
     * @param name the name that policies use
     * @param resolver the resolver
     * @return this builder
     */
    public WeirBuilder tierResolver(String name, TierResolver resolver) {
        tiers.put(name, resolver);
        return this;
    }

    /**
     * Creates the limiter, connects its backend in the background, and starts its repeated tasks.
     *
     * @return the limiter
     * @throws InvalidConfigurationException if the configuration is invalid, with all problems
     */
    public Weir build() {
        HostedWeir hosted = HostedWeir.on(new PlainPlatform(properties, objects, keys, tiers));
        hosted.start(Thread.currentThread().getContextClassLoader());
        return new Weir(hosted);
    }
}
