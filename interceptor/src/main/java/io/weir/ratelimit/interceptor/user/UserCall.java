// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.user;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.CallContext;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call of a host, whose principal and claims are those of the user that the server has authenticated. It knows no arguments by name. */
public interface UserCall extends CallContext {
    /** Returns the user, null if the server has authenticated none. */
    @Nullable
    AuthenticatedUser user();

    /** Lets the runtime end the request, if it reports the end. Returns false if the request has ended, or the thread does not serve it. */
    default boolean reportsEnd(RequestState request) {
        return true;
    }

    @Override
    default Optional<String> principal() {
        return Optional.ofNullable(user()).map(AuthenticatedUser::name);
    }

    @Override
    default Optional<String> claim(String name) {
        return Optional.ofNullable(user()).flatMap(user -> user.claim(name));
    }

    @Override
    default Optional<Object> argument(String name) {
        return Optional.empty();
    }
}
