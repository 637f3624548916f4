// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import jakarta.enterprise.inject.spi.CDI;
import java.util.Optional;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * The application that the server calls. This class is separate from the extension because CDI uses the archive of its caller, and
 * on Payara the extension is in two archives.
 */
public final class CurrentApplication {
    private CurrentApplication() {}

    /**
     * Returns the extension, also if the context class loader of the server does not see the application. Throws an
     * {@link IllegalStateException} if the application has no CDI container yet.
     */
    public static RateLimitExtension extension() {
        return RateLimitExtension.callInApplication(
                () -> CDI.current().select(RateLimitExtension.class).get());
    }

    /**
     * Reads the path of the quota resource below the context root. The deployment need not have ended, because an initializer of the
     * container can run before. Empty if the path is not set or not valid, or if limits are disabled.
     */
    public static Optional<String> quotaPath() {
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
