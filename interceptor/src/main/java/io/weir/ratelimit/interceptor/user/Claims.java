// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import io.weir.ratelimit.interceptor.OptionalApi;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.security.enterprise.identitystore.openid.OpenIdContext;
import java.security.Principal;
import java.util.Optional;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** The claims of callers, if MicroProfile JWT or OpenID Connect of Jakarta Security is available. */
public final class Claims {
    private Claims() {}

    /** Tests whether callers of an application can have claims from a source that is available. */
    public static boolean areAvailable(BeanManager beans) {
        return OptionalApi.MICROPROFILE_JWT.isVisible()
                || (OptionalApi.OPENID_CONNECT.isVisible() && Login.areAvailable(beans));
    }

    /**
     * Returns a claim of a caller, by its name or by the names on the path to it in an object, with dots between them. A string, number or
     * Boolean is text, also if it is the only element of an array. Other values, and those of a user without a token, are empty.
     */
    static Optional<String> of(Principal caller, String name) {
        Optional<String> claim = OptionalApi.MICROPROFILE_JWT.isVisible() ? Token.of(caller, name) : Optional.empty();
        return claim.isEmpty() && OptionalApi.OPENID_CONNECT.isVisible() ? Login.of(name) : claim;
    }

    /** The token of MicroProfile JWT. Loaded only if its API is available. */
    private static final class Token {
        static Optional<String> of(Principal caller, String name) {
            return caller instanceof JsonWebToken token
                    ? ClaimText.of(claim -> token.<@Nullable Object>getClaim(claim), name)
                    : Optional.empty();
        }
    }

    /**
     * The ID token of a login by OpenID Connect. Loaded only if its API is available. The claims of the user info are not read, because
     * the first read of them calls the provider.
     */
    private static final class Login {
        /** Tests whether the application has logins by OpenID Connect. */
        static boolean areAvailable(BeanManager beans) {
            return !beans.getBeans(OpenIdContext.class).isEmpty();
        }

        /** Returns a claim of the login of the current session, empty if there is none. */
        static Optional<String> of(String name) {
            try {
                Instance<OpenIdContext> login =
                        CDI.current().getBeanManager().createInstance().select(OpenIdContext.class);
                return login.isResolvable()
                        ? Optional.ofNullable(login.get().getIdentityToken())
                                .flatMap(token -> ClaimText.of(token.getClaims()::get, name))
                        : Optional.empty();
            } catch (RuntimeException e) { // no session is active, or there is no login
                return Optional.empty();
            }
        }
    }
}
