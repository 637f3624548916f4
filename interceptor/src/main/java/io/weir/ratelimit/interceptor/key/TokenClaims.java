// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.security.Principal;
import java.util.Optional;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** The only class that knows MicroProfile JWT; loaded only where that is there. */
final class TokenClaims {
    private TokenClaims() {}

    static Optional<String> of(Principal caller, String name) {
        return caller instanceof JsonWebToken token ? text(token.<@Nullable Object>getClaim(name)) : Optional.empty();
    }

    /** What has one text. Implementations tell the claims of the standard as Java's types and others as JSON's. */
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
