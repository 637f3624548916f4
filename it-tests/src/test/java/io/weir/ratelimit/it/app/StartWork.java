// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

@ApplicationScoped
public class StartWork {
    @RateLimit(limit = "2/1h", key = "ip | header:X-Client")
    public String call() {
        return "called";
    }
}
