// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;

/** What an application may inject. */
@ApplicationScoped
public class RateLimitBeans {
    /**
     * The limiter for code.
     *
     * @param deployment knows what was deployed
     * @return the limiter
     */
    @Produces
    @ApplicationScoped
    public RateLimiter limiter(RateLimitExtension deployment) {
        return deployment.runtime().limiter();
    }
}
