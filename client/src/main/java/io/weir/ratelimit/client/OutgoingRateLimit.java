// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits the calls of an interface of MicroProfile REST Client, by the properties {@code ratelimit.clients.<client>.*}:
 *
 * <pre>{@code
 * @RegisterRestClient(configKey = "partner")
 * @OutgoingRateLimit("partner")
 * public interface Partner { ... }
 * }</pre>
 *
 * <p>The annotation applies to declared and to inherited methods, and registers {@link RateLimitClientFilter}. An interface without it has
 * the nearest annotation of the interfaces that it extends. Interfaces with the same client share its limits.
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
