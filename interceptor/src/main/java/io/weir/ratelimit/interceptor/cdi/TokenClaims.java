// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.security.Principal;
import java.util.Optional;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** The claims of MicroProfile JWT tokens. This class is loaded only if MicroProfile JWT is available. */
final class TokenClaims {
    private TokenClaims() {}

    static Optional<String> of(Principal caller, String name) {
        return caller instanceof JsonWebToken token ? text(token.<@Nullable Object>getClaim(name)) : Optional.empty();
    }

    /** Returns a claim as text. Standard claims are Java types, and other claims are JSON values. */
    private static Optional<String> text(@Nullable Object claim) {
        if (claim instanceof JsonValue json) {
            return switch (json.getValueType()) {
                case STRING -> Optional.of(((JsonString) json).getString());
                case NUMBER, TRUE, FALSE -> Optional.of(json.toString());
                case NULL, ARRAY, OBJECT -> Optional.empty();
            };
        }
        return claim instanceof String || claim instanceof Number || claim instanceof Boolean
                ? Optional.of(claim.toString())
                : Optional.empty();
    }
}
