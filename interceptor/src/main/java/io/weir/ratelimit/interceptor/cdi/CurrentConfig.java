// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.config.ListElements;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * The current configuration. It is created anew from the same sources each time, because servers cache the values of their own
 * configuration (Payara: for a minute).
 */
final class CurrentConfig implements Supplier<ConfigProperties> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final ConfigSource[] sources;

    private CurrentConfig(Config config) {
        List<ConfigSource> all = new ArrayList<>();
        config.getConfigSources().forEach(all::add);
        this.sources = all.toArray(ConfigSource[]::new);
    }

    /**
     * Returns a supplier of the current configuration.
     *
     * @param config the configuration of the server, which the supplier returns if one from the same sources has other values
     * @param loaded the properties that were read so far
     */
    static Supplier<ConfigProperties> of(Config config, ConfigSnapshot loaded) {
        CurrentConfig current = new CurrentConfig(config);
        String reason = "the values differ";
        try {
            if (loaded.isSameIn(current.get())) {
                return current;
            }
        } catch (RuntimeException e) {
            reason = e.toString();
        }
        MESSAGES.log(LOG, "WEIR-311", reason);
        return () -> ListElements.join(new MicroProfileProperties(config));
    }

    @Override
    public ConfigProperties get() {
        return ListElements.join(new MicroProfileProperties(ConfigProviderResolver.instance()
                .getBuilder()
                .withSources(sources)
                .build()));
    }
}
