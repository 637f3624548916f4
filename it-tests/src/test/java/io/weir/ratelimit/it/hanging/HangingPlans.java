// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.hanging;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.util.Optional;

/** A tier resolver whose look-ups hang. The tier is the first word of the caller. */
@Named("plans")
@ApplicationScoped
public class HangingPlans implements TierResolver {
    @Inject
    private Hang hang;

    @Override
    public Optional<Identity> caller(CallContext call) {
        return call.header("X-Plan").map(plan -> Identity.header("X-Plan", plan));
    }

    @Override
    public Optional<String> tier(Identity caller) {
        hang.await();
        return Optional.of(caller.parts().get(0).value().split("-", -1)[0]);
    }
}
