// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.security.enterprise.SecurityContext;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The user that the container knows on a thread without a request. A managed executor gives its threads the user of the request, but
 * not the request itself.
 */
final class ThreadUser {
    private final BeanManager beans;

    ThreadUser(BeanManager beans) {
        this.beans = beans;
    }

    /** Returns the user of the calling thread, null if the container knows none. */
    @Nullable
    AuthenticatedUser current() {
        // Not kept, because it would keep each dependent object.
        Instance<Object> all = beans.createInstance();
        AuthenticatedUser user = OptionalApi.JAKARTA_SECURITY.isVisible() ? user(() -> Security.caller(all)) : null;
        return user == null ? user(() -> injected(all)) : user;
    }

    private static @Nullable AuthenticatedUser user(Supplier<@Nullable Principal> caller) {
        try {
            return AuthenticatedUser.of(caller.get(), () -> null);
        } catch (RuntimeException e) { // the container has no user on such a thread
            return null;
        }
    }

    /** Returns the principal that the container injects, which is a proxy without the claims of a token. */
    private static @Nullable Principal injected(Instance<Object> beans) {
        Instance<Principal> caller = beans.select(Principal.class);
        return caller.isResolvable() ? caller.get() : null;
    }

    /** Loaded only if Jakarta Security is available. */
    private static final class Security {
        static @Nullable Principal caller(Instance<Object> beans) {
            Instance<SecurityContext> security = beans.select(SecurityContext.class);
            return security.isResolvable() ? security.get().getCallerPrincipal() : null;
        }
    }
}
