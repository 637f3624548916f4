// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import jakarta.enterprise.inject.spi.CDI;

/**
 * The application on whose behalf a server calls. Not a part of the extension: CDI looks at which archive its caller is of, and
 * on Payara the extension is of two.
 */
public final class CurrentApplication {
    private CurrentApplication() {}

    /**
     * What is deployed, also where the server calls under a class loader that sees nothing of the application.
     *
     * @return the extension
     * @throws IllegalStateException if the application has no CDI container, or none yet
     */
    public static RateLimitExtension extension() {
        return RateLimitExtension.inTheApplication(
                () -> CDI.current().select(RateLimitExtension.class).get());
    }
}
