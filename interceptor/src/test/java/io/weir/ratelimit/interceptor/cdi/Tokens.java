// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.lang.reflect.Proxy;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** The tokens of a user called alice. */
public final class Tokens {
    private Tokens() {}

    /** Creates a token with one claim. */
    public static JsonWebToken of(String claim, @Nullable Object value) {
        return (JsonWebToken) Proxy.newProxyInstance(
                Tokens.class.getClassLoader(),
                new Class<?>[] {JsonWebToken.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getName" -> "alice";
                    case "getClaim" -> claim.equals(arguments[0]) ? value : null;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
