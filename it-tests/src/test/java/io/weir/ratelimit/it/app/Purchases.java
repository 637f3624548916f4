// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import java.util.Set;

/** A policy source with the limits of paying customers. */
@ApplicationScoped
public class Purchases implements PolicySource {
    @Override
    public Set<String> policies() {
        return Set.of("bought");
    }

    @Override
    public Optional<LimitOverride> limits(String policy, Identity key) {
        return Optional.of(key)
                .filter(customer -> customer.parts().get(0).value().startsWith("premium-"))
                .map(customer -> LimitOverride.of("3/1h"));
    }
}
