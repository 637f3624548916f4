// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import java.security.Principal;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A user that the server has authenticated. */
public record AuthenticatedUser(Principal principal) {
    /** The names that servers give to callers without a user: Helidon, WildFly, GlassFish and Payara, Open Liberty, TomEE. */
    private static final Set<String> NOBODY = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    static {
        NOBODY.addAll(Set.of("<anonymous>", "anonymous", "unauthenticated", "guest"));
    }

    /**
     * Returns the user of a principal, null if the server has not authenticated the caller. Some servers have a principal for such callers,
     * which all of them would share as a key.
     *
     * @param scheme returns how the server has authenticated the caller, null if it has not or if it is unknown; called only for a name
     *     that can stand for nobody
     */
    public static @Nullable AuthenticatedUser of(@Nullable Principal principal, Supplier<@Nullable String> scheme) {
        if (principal == null) {
            return null;
        }
        @Nullable String name = principal.getName();
        return name == null || name.isBlank() || (NOBODY.contains(name) && scheme.get() == null)
                ? null
                : new AuthenticatedUser(principal);
    }

    public String name() {
        return principal.getName();
    }

    /**
     * Returns a claim of the user as text, by its name or by the names on the path to it with dots between them. Empty if the user has no
     * such claim, or one with several values.
     */
    public Optional<String> claim(String name) {
        return Claims.of(principal, name);
    }

    /** Shows no data of the user. */
    @Override
    public String toString() {
        return "AuthenticatedUser";
    }
}
