// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.runtime.HttpCall;
import java.lang.reflect.Method;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A GET request of a path, as a filter passes it to the gate. */
final class FakeHttpCall implements HttpCall {
    /** A method without annotations. */
    static final Method METHOD = anyMethod();

    private final String path;
    private String peerAddress = "203.0.113.7";
    private boolean preflight;
    private @Nullable RequestState state;

    FakeHttpCall(String path) {
        this.path = path;
    }

    FakeHttpCall from(String address) {
        peerAddress = address;
        return this;
    }

    FakeHttpCall asPreflight() {
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
    public RequestPath path() {
        return RequestPath.of(path);
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
        return Optional.empty();
    }

    @Override
    public Optional<String> header(String name) {
        return Optional.empty();
    }

    @Override
    public Optional<Object> argument(String name) {
        return Optional.empty();
    }
}
