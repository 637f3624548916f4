// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi.hidden;

import io.weir.ratelimit.RateLimit;

@SuppressWarnings("EmptyMethod")
class Hidden {
    @RateLimit(value = "hidden", limit = "1/1h", key = "global")
    public void find() {}
}
