// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.Identity;
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
    public Optional<Identity> caller(CallContext call) {
        return call.header("X-Plan").map(plan -> Identity.header("X-Plan", plan));
    }

    @Override
    public Optional<String> tier(Identity caller) {
        String plan = caller.parts().get(0).value();
        return switch (plan) {
            case "throws" -> throw new IllegalStateException("on purpose");
            case "null" -> null;
            default -> Optional.of(plan);
        };
    }
}
