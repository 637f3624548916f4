// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import io.weir.ratelimit.spi.CallContext;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A call as a test describes it; what it leaves out is not known about the call. */
public record Calls(
        Optional<String> peerAddress,
        Optional<String> principal,
        Map<String, String> headers,
        Map<String, Object> arguments,
        Map<String, String> told)
        implements CallContext {

    public static final Calls NOBODY = new Calls(Optional.empty(), Optional.empty(), Map.of(), Map.of(), Map.of());

    public static Calls from(String address) {
        return new Calls(Optional.of(address), Optional.empty(), Map.of(), Map.of(), Map.of());
    }

    public static Calls by(String principal) {
        return new Calls(Optional.empty(), Optional.of(principal), Map.of(), Map.of(), Map.of());
    }

    public static Calls with(String header, String value) {
        return new Calls(Optional.empty(), Optional.empty(), Map.of(header, value), Map.of(), Map.of());
    }

    public Calls andBy(String user) {
        return new Calls(peerAddress, Optional.of(user), headers, arguments, told);
    }

    public Calls andArgument(String name, Object value) {
        return new Calls(peerAddress, principal, headers, Map.of(name, value), told);
    }

    public Calls withHeader(String header, String value) {
        return new Calls(peerAddress, principal, Map.of(header, value), arguments, told);
    }

    /** Adds what the call says under a term of the key language, such as {@code cookie:id} or {@code method}. */
    public Calls andTerm(String term, String value) {
        Map<String, String> all = new HashMap<>(told);
        all.put(term, value);
        return new Calls(peerAddress, principal, headers, arguments, all);
    }

    @Override
    public Optional<String> cookie(String name) {
        return Optional.ofNullable(told.get("cookie:" + name));
    }

    @Override
    public Optional<String> query(String name) {
        return Optional.ofNullable(told.get("query:" + name));
    }

    @Override
    public Optional<String> pathParameter(String name) {
        return Optional.ofNullable(told.get("path:" + name));
    }

    @Override
    public Optional<String> claim(String name) {
        return Optional.ofNullable(told.get("claim:" + name));
    }

    @Override
    public Optional<String> method() {
        return Optional.ofNullable(told.get("method"));
    }

    @Override
    public List<String> headerLines(String name) {
        return header(name).map(List::of).orElse(List.of());
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
