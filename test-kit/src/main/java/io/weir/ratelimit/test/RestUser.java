// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import jakarta.ws.rs.core.SecurityContext;
import java.security.Principal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The user of a request.
 *
 * @param name the name, null if the request has no user
 */
record RestUser(@Nullable String name, Set<String> roles) implements SecurityContext {
    static final RestUser NONE = new RestUser(null, Set.of());

    @Override
    public @Nullable Principal getUserPrincipal() {
        String known = name;
        return known == null ? null : () -> known;
    }

    @Override
    public boolean isUserInRole(String role) {
        return roles.contains(role);
    }

    @Override
    public boolean isSecure() {
        return false;
    }

    @Override
    public @Nullable String getAuthenticationScheme() {
        return name == null ? null : BASIC_AUTH;
    }
}
