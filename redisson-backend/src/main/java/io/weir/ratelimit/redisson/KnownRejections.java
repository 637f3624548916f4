// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.CachedRejection;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rejections whose end Redis has returned. They are the entries of the {@link RejectionCache}. While Redis does not decide, entries of
 * any age are used. While it decides, an entry of more than one second is not used, since another instance may have refunded permits.
 *
 * <p>One key without room rejects a call. The states of its other keys may be unknown; they are reported as untouched.
 */
record KnownRejections(RejectionCache cache, RedisKeys keys) {
    /** The clocks of this instance and of Redis may differ by one part of this many, and no rejection lasts longer than by Redis. */
    private static final int PARTS_OF_DRIFT = 1_000;

    /**
     * Returns the rejection of a call, of which the shadow charges are not evaluated; empty if the call may wait, or if all limits may have
     * room. While Redis does not decide, a rejection of any age is used.
     */
    Optional<Decision.Rejected> find(List<Charge> charges, List<String> storedKeys, boolean ofAnyAge) {
        if (mayWait(charges)) {
            return Optional.empty();
        }
        List<Charge> enforced = charges;
        List<String> keysOfEnforced = storedKeys;
        boolean hasShadow = ShadowAcquire.hasShadow(charges);
        if (hasShadow) {
            enforced = charges.stream().filter(charge -> !charge.shadow()).toList();
            keysOfEnforced = keys.of(enforced);
        }
        Optional<Decision.Rejected> known = ofAnyAge
                ? find(enforced, keysOfEnforced, System.nanoTime())
                : cache.find(enforced, keysOfEnforced, System.nanoTime());
        return hasShadow ? known.map(rejected -> ShadowAcquire.rejected(charges, rejected)) : known;
    }

    /** Returns whether a charge may be spent before its permits are available. */
    static boolean mayWait(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).maxWaitMicros() > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the rejection of a call that Redis would certainly reject, unless permits were refunded elsewhere; empty if all limits may
     * have room. The charges are enforced, and none may wait.
     */
    Optional<Decision.Rejected> find(List<Charge> charges, List<String> storedKeys, long nowNanos) {
        CachedRejection decisive = decisive(charges, storedKeys, nowNanos);
        return decisive == null
                ? Optional.empty()
                : Optional.of(new Decision.Rejected(results(charges, storedKeys, nowNanos, decisive)));
    }

    private @Nullable CachedRejection decisive(List<Charge> charges, List<String> storedKeys, long nowNanos) {
        for (int i = 0; i < storedKeys.size(); i++) {
            CachedRejection known = cache.latest(storedKeys.get(i));
            if (known != null && known.decidesOn(charges.get(i)) && isLasting(known, charges.get(i), nowNanos)) {
                return known;
            }
        }
        return null;
    }

    private static boolean isLasting(CachedRejection known, Charge charge, long nowNanos) {
        long age = nowNanos - known.time().sentNanos();
        return known.rejects(charge.cost(), nowNanos + age / PARTS_OF_DRIFT);
    }

    private List<ChargeResult> results(
            List<Charge> charges, List<String> storedKeys, long nowNanos, CachedRejection decisive) {
        List<ChargeResult> results = new ArrayList<>(charges.size());
        long nowMicros = decisive.time().earliestMicros(nowNanos);
        for (int i = 0; i < storedKeys.size(); i++) {
            CachedRejection known = cache.latest(storedKeys.get(i));
            if (known != null && known.decidesOn(charges.get(i))) {
                results.add(known.result(charges.get(i), nowNanos));
            } else {
                results.add(untouched(charges.get(i), nowMicros));
            }
        }
        return results;
    }

    private static ChargeResult untouched(Charge charge, long nowMicros) {
        List<LimitState> states = charge.policy().limits().stream()
                .map(limit -> LimitState.untouched(limit, nowMicros))
                .toList();
        return new ChargeStates(charge, states).result(true, nowMicros);
    }
}
