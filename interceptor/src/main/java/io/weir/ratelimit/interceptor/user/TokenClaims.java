// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import java.security.Principal;
import java.util.Optional;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** The claims of MicroProfile JWT tokens. This class is loaded only if MicroProfile JWT is available. */
final class TokenClaims {
    private TokenClaims() {}

    static Optional<String> of(Principal caller, String name) {
        return caller instanceof JsonWebToken token
                ? ClaimText.of(claim -> token.<@Nullable Object>getClaim(claim), name)
                : Optional.empty();
    }
}
