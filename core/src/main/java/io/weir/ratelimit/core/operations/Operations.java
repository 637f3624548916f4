// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.engine.BackendHealth;
import java.util.List;

/**
 * The operations of an operator on this instance and on callers. Quotas and resets of callers concern the shared backend, all other
 * operations concern this instance only.
 */
public interface Operations extends CallerOperations {
    /**
     * Returns the configured access to the console.
     *
     * @return the access
     */
    Access access();

    /**
     * Returns the health of the backend without calling it.
     *
     * @return the health
     */
    BackendHealth.Report backend();

    /**
     * Returns the current policies with the origins of their values.
     *
     * @return the policies by name
     */
    List<PolicyView> policies();

    /**
     * Returns the last result of reading the configuration.
     *
     * @return the result; at first that of the deployment
     */
    Reading lastReading();

    /**
     * Returns the top keys of a policy, as {@link io.weir.ratelimit.RateLimiter#topKeys} does.
     *
     * @param policy the name of a policy
     * @return estimates
     */
    TopKeys topKeys(String policy);
}
