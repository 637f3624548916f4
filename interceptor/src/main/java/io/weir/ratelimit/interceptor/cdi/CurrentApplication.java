// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import jakarta.enterprise.inject.spi.CDI;

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
}
