// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.spi.CallContext;

/** A call of a bean method, which is not always part of a request. */
public interface MethodCall extends CallContext {
    /** Tests whether a request contains the call; false on other threads than those of the request, such as the thread of a timer. */
    boolean isInRequest();
}
