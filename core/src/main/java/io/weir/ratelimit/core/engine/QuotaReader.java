// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads quotas without spending permits. */
record QuotaReader(FallbackBackend backend, IdentityEncoder encoder, Overrides overrides, Charges charges) {
    /** Returns the quotas of a caller. */
    List<Quota> peek(Policy policy, CallContext call) {
        Identity key = policy.key().resolve(call);
        String storedKey = encoder.encode(key);
        overrides.await(policy, key, storedKey);
        Charge charge = new Charge(
                charges.limits(policy, key, storedKey, call), storedKey, policy.cost(), policy.maxWaitMicros());
        return backend.call(known -> known.peek(List.of(charge)));
    }

    /** Returns the quotas of a caller under several policies, by one operation of the backend. */
    List<Quota> peek(Map<Policy, Identity> keys, CallContext call) {
        // All look-ups start before the first wait, so that one deadline bounds the call.
        keys.forEach((policy, key) -> overrides.of(policy, key, encoder.encode(key)));
        List<Charge> peeked = new ArrayList<>();
        keys.forEach((policy, key) -> {
            String storedKey = encoder.encode(key);
            overrides.await(policy, key, storedKey);
            peeked.add(new Charge(
                    charges.limits(policy, key, storedKey, call), storedKey, policy.cost(), policy.maxWaitMicros()));
        });
        return backend.call(known -> known.peek(peeked));
    }

    /** Returns the quotas of a key that application code names. */
    List<Quota> peek(Policy policy, Identity key) {
        String storedKey = encoder.encode(key);
        Charge charge =
                new Charge(charges.limits(policy, key, storedKey), storedKey, policy.cost(), policy.maxWaitMicros());
        return backend.call(known -> known.peek(List.of(charge)));
    }
}
