// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.request.RequestState;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A GET request of a path, as a filter passes it to the gate. */
public final class FakeHttpCall implements HttpCall {
    /** A method without annotations. */
    public static final Method METHOD = anyMethod();

    private final String path;
    private String peerAddress = "203.0.113.7";
    private @Nullable String principal;
    private String field = "";
    private List<String> lines = List.of();
    private boolean preflight;
    private @Nullable RequestState state;

    /** Creates a request of an anonymous caller. */
    public FakeHttpCall(String path) {
        this.path = path;
    }

    /** Sets the address of the connection. */
    public FakeHttpCall from(String address) {
        peerAddress = address;
        return this;
    }

    /** Sets the principal. */
    public FakeHttpCall by(String name) {
        principal = name;
        return this;
    }

    /** Sets the only header field. */
    public FakeHttpCall with(String name, List<String> values) {
        field = name;
        lines = values;
        return this;
    }

    /** Makes it a CORS preflight request. */
    public FakeHttpCall asPreflight() {
        preflight = true;
        return this;
    }

    private static Method anyMethod() {
        try {
            return String.class.getMethod("length");
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String httpMethod() {
        return "GET";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public boolean isPreflight() {
        return preflight;
    }

    @Override
    public @Nullable RequestState attachedState() {
        return state;
    }

    @Override
    public void attach(RequestState attached) {
        state = attached;
    }

    @Override
    public Optional<String> peerAddress() {
        return Optional.of(peerAddress);
    }

    @Override
    public Optional<String> principal() {
        return Optional.ofNullable(principal);
    }

    @Override
    public Optional<String> header(String name) {
        return headerLines(name).stream().findFirst();
    }

    @Override
    public List<String> headerLines(String name) {
        return name.equalsIgnoreCase(field) ? lines : List.of();
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.empty();
    }
}
