// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.microprofile.config.Config;

/** Configurations as tests write them: one {@code name=value} per line. */
final class Configs {
    private Configs() {}

    static Config of(String... lines) {
        return withEnvironment(Map.of(), lines);
    }

    static Config withEnvironment(Map<String, String> environment, String... lines) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            properties.put(line.substring(0, equals), line.substring(equals + 1));
        }
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new PropertiesConfigSource(properties, "application", 100))
                .withSources(new EnvConfigSource(environment, 300))
                .build();
    }
}
