// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.TierResolver;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The engine that a test asks for.
 *
 * @param properties the configuration
 * @param now the first time of the clock
 * @param resets whether each test begins with the first state
 * @param beans the bean classes; without them and packages, those of the class path
 * @param packages classes whose packages contain further bean classes
 * @param container whether the engine runs in a CDI container if there is one
 * @param redis the address or the image of a Redis; empty for the backend in process
 * @param keys the key resolvers by name
 * @param tiers the tier resolvers by name
 * @param sources the sources of limits
 */
record Setup(
        Map<String, String> properties,
        Instant now,
        boolean resets,
        List<Class<?>> beans,
        List<Class<?>> packages,
        boolean container,
        Optional<String> redis,
        Map<String, KeyResolver> keys,
        Map<String, TierResolver> tiers,
        List<PolicySource> sources) {
    Setup {
        properties = Map.copyOf(properties);
        beans = List.copyOf(beans);
        packages = List.copyOf(packages);
        keys = Map.copyOf(keys);
        tiers = Map.copyOf(tiers);
        sources = List.copyOf(sources);
    }

    /** Returns whether the test states its beans. */
    boolean hasBeans() {
        return !beans.isEmpty() || !packages.isEmpty();
    }

    /** Returns whether the test gives resolvers and sources itself, which are beans in a container. */
    boolean hasResolvers() {
        return !keys.isEmpty() || !tiers.isEmpty() || !sources.isEmpty();
    }

    /** Returns this setup with further resolvers. */
    Setup withResolvers(Map<String, KeyResolver> moreKeys, Map<String, TierResolver> moreTiers) {
        Map<String, KeyResolver> allKeys = new HashMap<>(moreKeys);
        allKeys.putAll(keys);
        Map<String, TierResolver> allTiers = new HashMap<>(moreTiers);
        allTiers.putAll(tiers);
        return new Setup(properties, now, resets, beans, packages, container, redis, allKeys, allTiers, sources);
    }

    static Setup of(WeirTest test) {
        return new Setup(
                TestProperties.of(test.properties()),
                Instant.parse(test.now()),
                test.reset(),
                List.of(test.beans()),
                List.of(test.packages()),
                test.container(),
                Optional.of(test.redis()).filter(redis -> !redis.isEmpty()),
                Map.of(),
                Map.of(),
                List.of());
    }
}
