// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.hanging;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.util.Optional;

/** A key resolver that hangs on the thread of the request. */
@Named("tenant")
@ApplicationScoped
public class HangingTenants implements KeyResolver {
    @Inject
    private Hang hang;

    @Override
    public Optional<Identity> resolve(CallContext call) {
        hang.await();
        return call.header("X-Tenant").map(Identity::of);
    }
}
