// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

import io.weir.ratelimit.core.request.RequestState;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;

/** A listener that ends an asynchronous request which holds slots. */
record AsyncRequestEnd(RequestState state) implements AsyncListener {
    @Override
    public void onComplete(AsyncEvent event) {
        state.end();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        state.end();
    }

    @Override
    public void onError(AsyncEvent event) {
        state.end();
    }

    /** Stays with a request that continues again after a dispatch, which removes its listeners. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}
