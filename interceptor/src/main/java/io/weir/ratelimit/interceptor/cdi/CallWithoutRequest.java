// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import io.weir.ratelimit.interceptor.user.UserCall;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.security.enterprise.SecurityContext;
import jakarta.websocket.Session;
import java.security.Principal;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call that no request contains, as on the thread of a timer, of an executor, or of a message of a web socket. A managed executor gives
 * its threads the user of the request, but not the request itself.
 */
final class CallWithoutRequest implements UserCall {
    private final BeanManager beans;
    private final @Nullable Object[] arguments;

    /** Creates a call on the calling thread. The arguments are null if the method has no parameters. */
    CallWithoutRequest(BeanManager beans, @Nullable Object @Nullable [] arguments) {
        this.beans = beans;
        this.arguments = arguments == null ? new Object[0] : arguments;
    }

    /** Returns the user of the web socket whose session the method receives, else that of the thread. */
    @Override
    public @Nullable AuthenticatedUser user() {
        AuthenticatedUser user = OptionalApi.WEB_SOCKET.isVisible() ? Sockets.user(arguments) : null;
        return user == null ? ofThread() : user;
    }

    /** Returns the user of the calling thread, null if the container knows none. */
    private @Nullable AuthenticatedUser ofThread() {
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

    @Override
    public Optional<String> peerAddress() {
        return Optional.empty();
    }

    @Override
    public Optional<String> header(String name) {
        return Optional.empty();
    }

    /** Shows no data of the caller. */
    @Override
    public String toString() {
        return "CallWithoutRequest";
    }

    /** Loaded only if web sockets are available. */
    private static final class Sockets {
        static @Nullable AuthenticatedUser user(@Nullable Object[] arguments) {
            for (Object argument : arguments) {
                if (argument instanceof Session session) {
                    return AuthenticatedUser.of(session.getUserPrincipal(), () -> null);
                }
            }
            return null;
        }
    }

    /** Loaded only if Jakarta Security is available. */
    private static final class Security {
        static @Nullable Principal caller(Instance<Object> beans) {
            Instance<SecurityContext> security = beans.select(SecurityContext.class);
            return security.isResolvable() ? security.get().getCallerPrincipal() : null;
        }
    }
}
