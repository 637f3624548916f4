// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the client of a MicroProfile REST client interface, whose calls the properties {@code ratelimit.clients.<client>.*} limit. The
 * interface registers the filter as well:
 *
 * <pre>{@code
 * @RegisterRestClient(configKey = "partner")
 * @RegisterProvider(RateLimitClientFilter.class)
 * @OutgoingRateLimit("partner")
 * public interface Partner { ... }
 * }</pre>
 *
 * <p>The annotation belongs to the interface that declares the called methods. Interfaces with the same client share its limits.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OutgoingRateLimit {
    /**
     * Returns the name of the client.
     *
     * @return 1 to 64 of the characters {@code A-Z a-z 0-9 _ -}
     */
    String value();
}
