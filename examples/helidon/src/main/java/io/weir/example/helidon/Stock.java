// SPDX-License-Identifier: Apache-2.0
package io.weir.example.helidon;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

/** A limited bean. */
@ApplicationScoped
public class Stock {
    /**
     * Returns the count. Its limit is that of the policy {@code stock}.
     *
     * @return the count
     */
    @RateLimit("stock")
    public String count() {
        return "7\n";
    }
}
