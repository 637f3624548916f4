// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Claims as text. Standard claims are Java types, and other claims are JSON values. */
final class ClaimText {
    private ClaimText() {}

    /** Returns a claim by its name, else by the names on the path to it with dots between them. */
    static Optional<String> of(Function<String, @Nullable Object> claims, String name) {
        Object claim = find(claims, name);
        return text(
                claim instanceof Collection<?> elements && elements.size() == 1
                        ? elements.iterator().next()
                        : claim);
    }

    private static @Nullable Object find(Function<String, @Nullable Object> claims, String name) {
        Object claim = claims.apply(name);
        int dot = claim == null ? name.indexOf('.') : -1;
        return dot > 0 && claims.apply(name.substring(0, dot)) instanceof Map<?, ?> object
                ? find(object::get, name.substring(dot + 1))
                : claim;
    }

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
