// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import java.util.Optional;
import org.eclipse.microprofile.config.ConfigProvider;

/** The path of the quota resource. */
public final class QuotaPath {
    private QuotaPath() {}

    /**
     * Reads the path below the context root for an initializer of the container, which can run before the deployment has ended; empty if it
     * is not set or not valid, or if limits are disabled.
     */
    public static Optional<String> configured() {
        try {
            return RateLimitExtension.callInApplication(() -> {
                // The deployment reports invalid values.
                ConfigReader reader =
                        new ConfigReader(new MicroProfileProperties(ConfigProvider.getConfig()), new Problems());
                return reader.value(ConfigKeys.ENABLED) ? reader.optional(ConfigKeys.QUOTA_PATH) : Optional.empty();
            });
        } catch (IllegalStateException | LinkageError e) { // no MicroProfile Config: the deployment reports it
            return Optional.empty();
        }
    }
}
