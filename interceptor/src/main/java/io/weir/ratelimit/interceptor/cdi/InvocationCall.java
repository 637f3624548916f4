// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A call whose arguments are known, with the positions of those that have names. */
record InvocationCall(CallContext request, Map<String, Integer> positions, List<Object> arguments)
        implements CallContext {
    @Override
    public Optional<String> peerAddress() {
        return request.peerAddress();
    }

    @Override
    public Optional<String> principal() {
        return request.principal();
    }

    @Override
    public Optional<String> header(String name) {
        return request.header(name);
    }

    @Override
    public Optional<Object> argument(String name) {
        Integer position = positions.get(name);
        return position == null ? Optional.empty() : Optional.ofNullable(arguments.get(position));
    }

    /** Names nobody. */
    @Override
    public String toString() {
        return "InvocationCall";
    }
}
