// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.user.AuthenticatedUser;
import io.weir.ratelimit.interceptor.user.UserCall;
import jakarta.websocket.Session;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call that no request contains, as on the thread of a timer, of an executor, or of a message of a web socket. */
final class CallWithoutRequest implements UserCall {
    private final Supplier<@Nullable AuthenticatedUser> thread;
    private final @Nullable Object[] arguments;

    /** Creates a call by the user of the calling thread. The arguments are null if the method has no parameters. */
    CallWithoutRequest(Supplier<@Nullable AuthenticatedUser> thread, @Nullable Object @Nullable [] arguments) {
        this.thread = thread;
        this.arguments = arguments == null ? new Object[0] : arguments;
    }

    /** Returns the user of the web socket whose session the method receives, else that of the thread. */
    @Override
    public @Nullable AuthenticatedUser user() {
        AuthenticatedUser user = OptionalApi.WEB_SOCKET.isVisible() ? Sockets.user(arguments) : null;
        return user == null ? thread.get() : user;
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
}
