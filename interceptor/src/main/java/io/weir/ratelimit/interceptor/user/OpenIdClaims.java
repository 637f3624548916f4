// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.security.enterprise.identitystore.openid.IdentityToken;
import jakarta.security.enterprise.identitystore.openid.OpenIdContext;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The claims of the ID token of a login by OpenID Connect of Jakarta Security. This class is loaded only if its API is available.
 *
 * <p>It does not read the claims of the user info, because the first read of them calls the provider.
 */
final class OpenIdClaims {
    private OpenIdClaims() {}

    /** Tests whether the application has logins by OpenID Connect. */
    static boolean areAvailable(BeanManager beans) {
        return !beans.getBeans(OpenIdContext.class).isEmpty();
    }

    /** Returns a claim of the login of the current session, empty if there is none. */
    static Optional<String> of(String name) {
        try {
            Instance<OpenIdContext> login =
                    CDI.current().getBeanManager().createInstance().select(OpenIdContext.class);
            return login.isResolvable() ? of(login.get(), name) : Optional.empty();
        } catch (RuntimeException e) { // no session is active, or there is no login
            return Optional.empty();
        }
    }

    private static Optional<String> of(OpenIdContext login, String name) {
        @Nullable IdentityToken token = login.getIdentityToken();
        if (token == null) {
            return Optional.empty();
        }
        Map<String, Object> claims = token.getClaims();
        return ClaimText.of(claims::get, name);
    }
}
