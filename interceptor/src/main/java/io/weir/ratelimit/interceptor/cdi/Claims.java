// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import java.security.Principal;
import java.util.Optional;

/** The claims of callers, if MicroProfile JWT is available. */
public final class Claims {
    private static final boolean AVAILABLE = isAvailable();

    private Claims() {}

    /**
     * Tests whether MicroProfile JWT is visible to this library.
     *
     * @return false if no caller can have claims
     */
    public static boolean areAvailable() {
        return AVAILABLE;
    }

    /**
     * Returns a claim of a caller.
     *
     * @param caller the authenticated user
     * @param name the name of the claim
     * @return a string, number or Boolean as text; empty for other values, and if the user has no token
     */
    public static Optional<String> of(Principal caller, String name) {
        return AVAILABLE ? TokenClaims.of(caller, name) : Optional.empty();
    }

    /** Uses the class loader of this library, because that of the thread can find classes that this code cannot. */
    private static boolean isAvailable() {
        try {
            Class.forName("org.eclipse.microprofile.jwt.JsonWebToken", false, Claims.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
