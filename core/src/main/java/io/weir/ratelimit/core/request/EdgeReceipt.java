// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the edge has charged for one request. The first call of the request that needs it claims it at the backend, so that it pays for one
 * request of all instances.
 */
public final class EdgeReceipt {
    private final Charge claim;
    private final List<ChargeStates> charged;
    private final Consumer<Result> listener;
    private boolean isUsed;

    /** What happens to a receipt. */
    public enum Result {
        /** Its charges are paid. */
        ACCEPTED,
        /** Its signature or its form is wrong. */
        FORGED,
        /** It is too old. */
        EXPIRED,
        /** Another request has used it. */
        REPLAYED,
        /** The backend did not answer, so that it is not known whether another request has used it. */
        UNKNOWN
    }

    /**
     * Creates a receipt whose signature is valid.
     *
     * @param claim the charge of a limit that has one permit for this receipt
     * @param listener receives the result of the claim
     */
    EdgeReceipt(Charge claim, List<ChargeStates> charged, Consumer<Result> listener) {
        this.claim = claim;
        this.charged = List.copyOf(charged);
        this.listener = listener;
    }

    private boolean has(Predicate<Charge> selection) {
        return charged.stream().map(ChargeStates::charge).anyMatch(selection);
    }

    /**
     * Begins the claim if this is the first call that needs one of the charges.
     *
     * @return the charges to acquire for the claim; empty if there is nothing to claim
     */
    public List<Charge> begin(List<Charge> needed) {
        return begin(paid -> needed.stream()
                .anyMatch(charge -> charge.policy().policy().equals(paid.policy().policy())
                        && charge.storedKey().equals(paid.storedKey())));
    }

    /**
     * Begins the claim if the edge has charged a policy.
     *
     * @return the charges to acquire for the claim; empty if there is nothing to claim
     */
    public List<Charge> begin(String policy) {
        return begin(paid -> paid.policy().policy().equals(policy));
    }

    private synchronized List<Charge> begin(Predicate<Charge> needed) {
        if (isUsed || !has(needed)) {
            return List.of();
        }
        isUsed = true;
        return List.of(claim);
    }

    /**
     * Ends the claim.
     *
     * @param decision the decision on the claim, null if the backend failed
     * @return the receipt of the charges; empty if the request has to pay itself
     */
    Optional<BackendReceipt> end(@Nullable Decision decision) {
        if (decision == null) {
            listener.accept(Result.UNKNOWN);
            return Optional.empty();
        }
        listener.accept(decision.allowed() ? Result.ACCEPTED : Result.REPLAYED);
        return decision.allowed() ? Optional.of(new BackendReceipt(charged)) : Optional.empty();
    }
}
