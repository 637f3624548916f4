// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys of one call, for the report of used shares. There are none if no policy of the call reports any. */
@FunctionalInterface
public interface CallKeys {
    /** Returns the key under a policy of the call. */
    Identity of(Policy policy);

    /** Returns the keys of a caller, which are resolved when they are read. */
    static @Nullable CallKeys of(Binding binding, CallContext call) {
        return binding.notifies() ? policy -> policy.key().resolve(call) : null;
    }

    /** Returns the key that application code names. */
    static @Nullable CallKeys of(Binding binding, Identity key) {
        return binding.notifies() ? policy -> key : null;
    }

    /** Returns the keys of a caller, which are resolved now, because the thread that completes the call does not know the caller. */
    static @Nullable CallKeys ofLaterCall(Binding binding, CallContext call) {
        if (!binding.notifies()) {
            return null;
        }
        Map<String, Identity> known = new HashMap<>();
        binding.policies()
                .forEach(each ->
                        known.put(each.policy().name(), each.policy().key().resolve(call)));
        return policy -> known.getOrDefault(policy.name(), Identity.ANONYMOUS);
    }
}
