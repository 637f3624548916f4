// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import jakarta.enterprise.inject.spi.BeanManager;
import java.security.Principal;
import java.util.Optional;

/** The claims of callers, if MicroProfile JWT or OpenID Connect of Jakarta Security is available. */
public final class Claims {
    private Claims() {}

    /**
     * Returns whether callers of an application can have claims.
     *
     * @return true if a source of claims is available
     */
    public static boolean areAvailable(BeanManager beans) {
        return OptionalApi.MICROPROFILE_JWT.isVisible()
                || (OptionalApi.OPENID_CONNECT.isVisible() && OpenIdClaims.areAvailable(beans));
    }

    /**
     * Returns a claim of a caller.
     *
     * @param caller the authenticated user
     * @param name the name of the claim, else the names on the path to a claim in an object, with dots between them
     * @return a string, number or Boolean as text, also if it is the only element of an array; empty for other values, and if the
     *     user has no token
     */
    static Optional<String> of(Principal caller, String name) {
        Optional<String> claim =
                OptionalApi.MICROPROFILE_JWT.isVisible() ? TokenClaims.of(caller, name) : Optional.empty();
        return claim.isEmpty() && OptionalApi.OPENID_CONNECT.isVisible() ? OpenIdClaims.of(name) : claim;
    }
}
