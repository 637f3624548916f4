// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import io.weir.ratelimit.spi.CallContext;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A call as a test describes it; what it leaves out is not known about the call. */
public record Calls(
        Optional<String> peerAddress,
        Optional<String> principal,
        Map<String, String> headers,
        Map<String, Object> arguments)
        implements CallContext {

    public static final Calls NOBODY = new Calls(Optional.empty(), Optional.empty(), Map.of(), Map.of());

    public static Calls from(String address) {
        return new Calls(Optional.of(address), Optional.empty(), Map.of(), Map.of());
    }

    public static Calls by(String principal) {
        return new Calls(Optional.empty(), Optional.of(principal), Map.of(), Map.of());
    }

    public static Calls with(String header, String value) {
        return new Calls(Optional.empty(), Optional.empty(), Map.of(header, value), Map.of());
    }

    public Calls andBy(String user) {
        return new Calls(peerAddress, Optional.of(user), headers, arguments);
    }

    public Calls andArgument(String name, Object value) {
        return new Calls(peerAddress, principal, headers, Map.of(name, value));
    }

    @Override
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.ofNullable(arguments.get(name));
    }
}
