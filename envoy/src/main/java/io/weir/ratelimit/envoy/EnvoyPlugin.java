// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.envoy.config.EnvoyConfig;
import io.weir.ratelimit.envoy.config.EnvoyConfigLayer;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.runtime.Preparation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of the limiter that the server adds: its settings, and the policies of configuration files of Envoy. */
final class EnvoyPlugin implements Plugin {
    /** The interval at which the quota service looks for changed policies. */
    private static final Duration UPDATE_INTERVAL = Duration.ofMillis(500);

    private final EnvoyConfigLayer layer = new EnvoyConfigLayer();
    private @Nullable EnvoySettings settings;
    private volatile Runnable update = () -> {};

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

    /** Sets the task that updates the assignments of proxies. */
    void repeat(Runnable task) {
        update = task;
    }

    @Override
    public List<Plugin.Task> tasks() {
        return List.of(new Plugin.Task() {
            @Override
            public Duration interval() {
                return UPDATE_INTERVAL;
            }

            @Override
            public void run() {
                update.run();
            }
        });
    }

    /** Returns the settings, which exist after the start. */
    EnvoySettings settings() {
        EnvoySettings known = settings;
        if (known == null) {
            throw new IllegalStateException("the configuration is not read yet");
        }
        return known;
    }

    /** Returns the configuration files that apply with the policies in force. */
    EnvoyConfig config(Map<String, Policy> policies) {
        return layer.config(policies);
    }
}
