// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.util.Optional;

/** A tier resolver that reads a header, and fails for some values. */
@Named("plans")
@ApplicationScoped
public class Plans implements TierResolver {
    @Override
    public Optional<String> tier(CallContext call) {
        String plan = call.header("X-Plan").orElse("none");
        return switch (plan) {
            case "throws" -> throw new IllegalStateException("on purpose");
            case "null" -> null;
            default -> Optional.of(plan);
        };
    }
}
