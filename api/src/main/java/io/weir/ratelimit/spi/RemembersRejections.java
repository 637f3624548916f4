// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import java.util.List;
import java.util.Optional;

/**
 * The capability of a {@link RateLimitBackend} to decide from memory calls that it has failed to decide. Its methods call no server and do
 * not block.
 */
public interface RemembersRejections {
    /**
     * Returns the rejection of a call that the backend has failed to decide, if an earlier rejection still holds: no later than the end
     * that the backend has returned, and not after a refund, a reset or a change of the limits. It takes precedence over the failure modes.
     *
     * @param charges the charges of the call
     * @return the rejection, with one quota per limit of the enforced charges; empty if none is known
     */
    Optional<Decision.Rejected> knownRejection(List<Charge> charges);

    /**
     * Decides a call with new keys for which {@link RateLimitBackend#acquire} has failed with {@link BackendException.Reason#FULL}, if the
     * failure modes of all its policies are {@code open}. New keys share approximate counts, which are never lower than the permits that a
     * key has spent. A key can therefore be rejected although it has permits. Charges of new keys are not refunded, and shadow charges are
     * left out.
     *
     * @param charges the charges of the call
     * @return the decision; empty if the backend has no approximate counts for them, so that the failure modes decide
     */
    Optional<Decision> acquireApproximately(List<Charge> charges);

    /**
     * Tests whether the state of a key under a limit comes from approximate counts, so that it can count more permits than the key has
     * spent. Such a state leads to no penalty and to no {@link io.weir.ratelimit.QuotaThresholdReached}. The default is false.
     *
     * @param charge a charge of the key
     * @param index the position of the limit in the policy of the charge
     * @return true if the state can count permits of other keys
     */
    default boolean isApproximate(Charge charge, int index) {
        return false;
    }
}
