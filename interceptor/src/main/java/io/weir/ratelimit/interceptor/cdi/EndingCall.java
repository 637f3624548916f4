// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.request.RequestState;

/** A request whose runtime can report its end. */
public interface EndingCall {
    /** Lets the runtime end the request. Returns false if the request has ended. */
    boolean reportsEnd(RequestState request);
}
