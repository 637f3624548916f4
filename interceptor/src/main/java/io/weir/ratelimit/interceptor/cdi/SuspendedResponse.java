// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.request.Binding;
import jakarta.interceptor.InvocationContext;
import jakarta.ws.rs.container.AsyncResponse;
import java.util.concurrent.CancellationException;

/** The suspended response of a resource method. The class is loaded only for methods with such a parameter. */
record SuspendedResponse(AsyncResponse response) {
    static SuspendedResponse of(InvocationContext invocation) {
        int position = Binding.Asynchrony.position(invocation.getMethod().getParameterTypes());
        return new SuspendedResponse((AsyncResponse) invocation.getParameters()[position]);
    }

    /** Resumes the response with an exception, for its mapper, or with 503 if the wait was canceled. No effect on a resumed response. */
    void fail(Throwable failure) {
        if (failure instanceof CancellationException) {
            response.cancel();
        } else {
            response.resume(failure);
        }
    }
}
