// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import jakarta.enterprise.inject.spi.BeanManager;
import java.security.Principal;
import java.util.Optional;

/** The claims of callers, if MicroProfile JWT or OpenID Connect of Jakarta Security is available. */
public final class Claims {
    private Claims() {}

    /** Tests whether callers of an application can have claims from a source that is available. */
    public static boolean areAvailable(BeanManager beans) {
        return OptionalApi.MICROPROFILE_JWT.isVisible()
                || (OptionalApi.OPENID_CONNECT.isVisible() && OpenIdClaims.areAvailable(beans));
    }

    /**
     * Returns a claim of a caller, by its name or by the names on the path to it in an object, with dots between them. A string, number or
     * Boolean is text, also if it is the only element of an array. Other values, and those of a user without a token, are empty.
     */
    static Optional<String> of(Principal caller, String name) {
        Optional<String> claim =
                OptionalApi.MICROPROFILE_JWT.isVisible() ? TokenClaims.of(caller, name) : Optional.empty();
        return claim.isEmpty() && OptionalApi.OPENID_CONNECT.isVisible() ? OpenIdClaims.of(name) : claim;
    }
}
