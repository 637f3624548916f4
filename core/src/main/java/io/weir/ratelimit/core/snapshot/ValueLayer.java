// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ConfigProperties;
import java.util.Set;

/** Values over the configuration, such as those of runtime changes. Where they are invalid, the configuration applies. */
public interface ValueLayer {
    /**
     * Tests whether there are no values.
     *
     * @return true if the configuration applies as it is
     */
    boolean isEmpty();

    /**
     * Lays the values over a configuration.
     *
     * @param policies the policies that exist without the values; the values of others are left out
     */
    ConfigProperties over(ConfigProperties config, Set<String> policies);
}
