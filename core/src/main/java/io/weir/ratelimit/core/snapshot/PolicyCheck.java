// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;

/** A check of a policy by another part of the limiter, at the deployment, at each reload and for each runtime change. */
@FunctionalInterface
public interface PolicyCheck {
    /** A check that finds nothing. */
    PolicyCheck NONE = (policy, config, problems) -> {};

    void check(Policy policy, ConfigProperties config, Problems problems);
}
