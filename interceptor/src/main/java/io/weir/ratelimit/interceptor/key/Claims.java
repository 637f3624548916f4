// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import java.security.Principal;
import java.util.Optional;

/** The claims of callers, where MicroProfile JWT is there. */
public final class Claims {
    private static final boolean HERE = isThere();

    private Claims() {}

    /**
     * Whether MicroProfile JWT is visible to this library.
     *
     * @return false if no caller can have claims
     */
    public static boolean areHere() {
        return HERE;
    }

    /**
     * A claim of a caller.
     *
     * @param caller the authenticated user
     * @param name the claim's name
     * @return a text, number or truth value as text; empty if there is none, for arrays and objects, and if the caller was
     *     authenticated otherwise
     */
    public static Optional<String> of(Principal caller, String name) {
        return HERE ? TokenClaims.of(caller, name) : Optional.empty();
    }

    /** Asked of this library's own class loader: that of the thread can find classes that this code would not. */
    private static boolean isThere() {
        try {
            Class.forName("org.eclipse.microprofile.jwt.JsonWebToken", false, Claims.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
