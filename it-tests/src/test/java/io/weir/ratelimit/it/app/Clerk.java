// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.ejb.Stateless;

@Stateless
public class Clerk {
    @RateLimit("clerk")
    public String serve() {
        return "served";
    }
}
