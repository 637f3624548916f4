// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.util.Optional;

/** The key of outgoing calls, so that each test has its own. */
@Named("account")
@ApplicationScoped
public class Account implements KeyResolver {
    @Override
    public Optional<Identity> resolve(CallContext call) {
        return call.header("X-Account").map(Identity::of);
    }
}
