// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TierResolver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** The platform of a program without a container. */
final class PlainPlatform implements Platform {
    private final ConfigProperties.Sources sources;
    private final List<Object> objects;
    private final Map<Class<?>, Map<String, ?>> resolvers;
    private final List<RateLimitBackend> provided = new ArrayList<>();

    PlainPlatform(
            Map<String, String> properties,
            List<Object> objects,
            Map<String, KeyResolver> keys,
            Map<String, TierResolver> tiers) {
        ConfigProperties config = ConfigProperties.of(properties);
        this.sources = ConfigProperties.Sources.of(config);
        this.resolvers = Map.of(KeyResolver.class, new TreeMap<>(keys), TierResolver.class, new TreeMap<>(tiers));
        ServiceLoader.load(BackendProvider.class)
                .forEach(provider ->
                        provided.add(provider.create(name -> config.get(name).value())));
        // A backend of the program replaces a provided one of the same name.
        this.objects = new ArrayList<>(provided);
        this.objects.addAll(objects);
    }

    @Override
    public ConfigProperties.Sources properties() {
        return sources;
    }

    @Override
    public <T> List<T> all(Class<T> type) {
        return objects.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Override
    public <T> Map<String, T> named(Class<T> type, Problems problems) {
        Map<String, T> named = new HashMap<>();
        resolvers.getOrDefault(type, Map.of()).forEach((name, resolver) -> {
            if (type == KeyResolver.class) {
                KeyTerms.problemOf(name, resolver.getClass().getName()).ifPresent(problems::add);
            }
            named.put(name, type.cast(resolver));
        });
        return named;
    }

    /** Closes the backends of providers. The application closes its own. */
    @Override
    public void closed() {
        for (RateLimitBackend backend : provided) {
            if (backend instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Exception e) {
                    MessageCatalog.debug("The backend is not closed", e);
                }
            }
        }
    }
}
