// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.policy.ConfigSnapshot;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * Configuration as its sources have it now: each time a new one over the same sources, since servers remember what theirs has
 * once answered (Payara each value for a minute).
 */
final class CurrentConfig implements Supplier<Config> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final ConfigSource[] sources;

    private CurrentConfig(Config config) {
        List<ConfigSource> all = new ArrayList<>();
        config.getConfigSources().forEach(all::add);
        this.sources = all.toArray(ConfigSource[]::new);
    }

    /**
     * The same configuration later.
     *
     * @param config the application's
     * @param read what was read of it, which a new one must answer alike; else the application's own is asked again
     */
    static Supplier<Config> of(Config config, ConfigSnapshot read) {
        CurrentConfig current = new CurrentConfig(config);
        String reason = "answers differently";
        try {
            if (read.isSameIn(current.get())) {
                return current;
            }
        } catch (RuntimeException e) {
            reason = "fails with " + e;
        }
        LOG.log(
                Level.INFO,
                "WEIR-311 a configuration made of the application''s sources {0}; changes are looked for in the"
                        + " application''s own, which may remember values for some time",
                reason);
        return () -> config;
    }

    @Override
    public Config get() {
        return ConfigProviderResolver.instance()
                .getBuilder()
                .withSources(sources)
                .build();
    }
}
