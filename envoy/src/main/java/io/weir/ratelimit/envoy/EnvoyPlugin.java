// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.envoy.config.EnvoyConfig;
import io.weir.ratelimit.envoy.config.EnvoyConfigLayer;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.runtime.Preparation;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of the limiter that the server adds: its settings, and the policies of configuration files of Envoy. */
final class EnvoyPlugin implements Plugin {
    private final EnvoyConfigLayer layer = new EnvoyConfigLayer();
    private @Nullable EnvoySettings settings;

    @Override
    public Set<String> properties() {
        return ConfigKeys.ofArtifact("weir-envoy");
    }

    @Override
    public ConfigProperties over(ConfigProperties config) {
        return layer.over(config);
    }

    @Override
    public void prepare(Preparation preparation) {
        Problems problems = preparation.problems();
        settings = EnvoySettings.read(new ConfigReader(preparation.config(), problems));
        problems.addAll(preparation.config().problems());
    }

    /** Returns the settings, which exist after the start. */
    EnvoySettings settings() {
        EnvoySettings known = settings;
        if (known == null) {
            throw new IllegalStateException("the configuration is not read yet");
        }
        return known;
    }

    /** Returns the configuration files as they were read last. */
    EnvoyConfig config() {
        return layer.config();
    }
}
