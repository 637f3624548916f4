// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.spi.CallContext;
import jakarta.ws.rs.core.MultivaluedMap;
import java.util.List;
import java.util.Optional;

/** Who makes a request. */
record RestCall(Optional<String> peerAddress, Optional<String> principal, MultivaluedMap<String, String> headers)
        implements CallContext {
    @Override
    public Optional<String> header(String name) {
        List<String> lines = headers.get(name);
        return lines == null || lines.isEmpty() ? Optional.empty() : Optional.of(lines.get(0));
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.empty();
    }

    /** Names nobody. */
    @Override
    public String toString() {
        return "RestCall";
    }
}
