// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.util.Optional;

/** A key resolver that reads a header, and fails for some values. */
@Named("tenant")
@ApplicationScoped
public class Tenants implements KeyResolver {
    @Override
    public Optional<Identity> resolve(CallContext call) {
        String tenant = call.header("X-Tenant").orElse("unresolved");
        return switch (tenant) {
            case "throws" -> throw new IllegalStateException("on purpose");
            case "null" -> null;
            case "unresolved" -> Optional.empty();
            default -> Optional.of(Identity.of(tenant));
        };
    }
}
