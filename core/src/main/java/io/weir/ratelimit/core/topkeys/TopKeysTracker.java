// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Who was refused, and who called, most often of late, by policy. Each charge of a decision counts once as a call, whatever it
 * costs; it counts as refused too if a limit of its own policy had no room, also of a policy in shadow mode. Of a decision without
 * the store only the calls count: it says nothing about who called. Calls that are let past all limits do not count.
 *
 * <p>Identities are kept in their stored form and told as {@link KeyMasker} shows them.
 */
public final class TopKeysTracker {
    /** Nothing is counted. */
    public static final TopKeysTracker NONE = new TopKeysTracker(false, new KeyMasker(Optional.empty()), () -> 0);

    private static final TopKeys NOBODY = new TopKeys(List.of(), List.of(), Duration.ZERO);

    private final boolean on;
    private final KeyMasker keys;
    private final LongSupplier nanoTime;
    private final Map<String, Recent> byPolicy = new ConcurrentHashMap<>();

    /**
     * Counts of nothing yet.
     *
     * @param keys how keys are shown
     * @param nanoTime the monotonic clock of the instants of decisions
     */
    public TopKeysTracker(KeyMasker keys, LongSupplier nanoTime) {
        this(true, keys, nanoTime);
    }

    private TopKeysTracker(boolean on, KeyMasker keys, LongSupplier nanoTime) {
        this.on = on;
        this.keys = keys;
        this.nanoTime = nanoTime;
    }

    /**
     * Counts a decision.
     *
     * @param charges what the call would spend
     * @param decision the decision about them
     * @param nanos when it was taken, by the monotonic clock
     */
    public void decided(List<Charge> charges, Decision decision, long nanos) {
        if (!on) {
            return;
        }
        if (decision instanceof Decision.Rejected || !decision.shadowQuotas().isEmpty()) {
            rejected(new DecisionEvent("", charges, decision, 0), nanos);
            return;
        }
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            of(charge.policy().policy(), nanos).saw(charge.storedKey(), false, nanos);
        }
    }

    private void rejected(DecisionEvent event, long nanos) {
        for (int i = 0; i < event.charges().size(); i++) {
            Charge charge = event.charges().get(i);
            of(charge.policy().policy(), nanos).saw(charge.storedKey(), anyRefused(event.quotasOf(i)), nanos);
        }
    }

    private static boolean anyRefused(List<Quota> quotas) {
        for (int i = 0; i < quotas.size(); i++) {
            if (quotas.get(i).rejected()) {
                return true;
            }
        }
        return false;
    }

    private Recent of(String policy, long nanos) {
        Recent recent = byPolicy.get(policy);
        return recent != null ? recent : byPolicy.computeIfAbsent(policy, first -> new Recent(nanos));
    }

    /**
     * Forgets the policies that are no longer there.
     *
     * @param policies the names of those that are
     */
    public void retain(Set<String> policies) {
        byPolicy.keySet().retainAll(policies);
    }

    /**
     * Who was refused, and who called, most often of late.
     *
     * @param policy a policy's name
     * @return estimates, empty if nothing was decided under the policy
     */
    public TopKeys top(String policy) {
        Recent recent = byPolicy.get(policy);
        return recent == null ? NOBODY : recent.top(keys::of, nanoTime.getAsLong());
    }

    /**
     * The identity of a key that is shown.
     *
     * @param policy a policy's name
     * @param shown the key as {@link #top} tells it
     * @return the identity in its stored form, empty if it is not among those that are kept
     */
    public Optional<String> storedKey(String policy, String shown) {
        Recent recent = byPolicy.get(policy);
        return recent == null
                ? Optional.empty()
                : recent.identities().stream()
                        .filter(storedKey -> keys.of(storedKey).equals(shown))
                        .findFirst();
    }
}
