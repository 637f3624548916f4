// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.key.MethodCall;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A call of a bean method, with the context of the request that contains it or else of a caller without a request. The positions are those
 * of the named arguments.
 */
record InvocationCall(
        CallContext request,
        boolean isInRequest,
        String endpoint,
        Map<String, Integer> positions,
        List<Object> arguments)
        implements MethodCall {
    @Override
    public Optional<String> method() {
        return Optional.of(endpoint);
    }

    @Override
    public Optional<Object> argument(String name) {
        Integer position = positions.get(name);
        return position == null ? Optional.empty() : Optional.ofNullable(arguments.get(position));
    }

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
    public List<String> headerLines(String name) {
        return request.headerLines(name);
    }

    @Override
    public Optional<String> cookie(String name) {
        return request.cookie(name);
    }

    @Override
    public Optional<String> queryParameter(String name) {
        return request.queryParameter(name);
    }

    @Override
    public Optional<String> pathParameter(String name) {
        return request.pathParameter(name);
    }

    @Override
    public Optional<String> claim(String name) {
        return request.claim(name);
    }

    @Override
    public boolean isInRole(String role) {
        return request.isInRole(role);
    }

    /** Shows no data of the caller. */
    @Override
    public String toString() {
        return "InvocationCall";
    }
}
