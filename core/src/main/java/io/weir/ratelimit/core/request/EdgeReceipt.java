// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The charges of the edge for one request. The first call of the request that needs them claims the receipt, so that it pays for one
 * request of all instances.
 */
public final class EdgeReceipt {
    private final Charge claim;
    private final BooleanSupplier isClaimable;
    private final List<ChargeStates> charged;
    private final Consumer<Result> listener;
    private boolean isUsed;

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
     * @param claim the charge of a limit with one permit for this receipt
     * @param isClaimable returns whether that limit still knows an earlier claim
     */
    EdgeReceipt(Charge claim, BooleanSupplier isClaimable, List<ChargeStates> charged, Consumer<Result> listener) {
        this.claim = claim;
        this.isClaimable = isClaimable;
        this.charged = List.copyOf(charged);
        this.listener = listener;
    }

    private boolean has(Predicate<Charge> selection) {
        return charged.stream().map(ChargeStates::charge).anyMatch(selection);
    }

    /** Begins the claim as {@link RequestState#claim(List)}. */
    List<Charge> begin(List<Charge> needed) {
        return begin(paid -> needed.stream()
                .anyMatch(
                        charge -> charge.policy().policy().equals(paid.policy().policy())
                                && charge.storedKey().equals(paid.storedKey())));
    }

    /** Begins the claim as {@link RequestState#claim(String)}. */
    List<Charge> begin(String policy) {
        return begin(paid -> paid.policy().policy().equals(policy));
    }

    private synchronized List<Charge> begin(Predicate<Charge> needed) {
        if (isUsed || !has(needed)) {
            return List.of();
        }
        isUsed = true;
        if (!isClaimable.getAsBoolean()) {
            listener.accept(Result.EXPIRED);
            return List.of();
        }
        return List.of(claim);
    }

    /** Ends the claim. Returns the receipt of the charges; empty if the request has to pay itself. */
    Optional<BackendReceipt> end(TimedDecision claim) {
        Result result = claim.failure() != null
                ? Result.UNKNOWN
                : claim.decision().allowed() ? Result.ACCEPTED : Result.REPLAYED;
        listener.accept(result);
        return result == Result.ACCEPTED ? Optional.of(new BackendReceipt(charged)) : Optional.empty();
    }
}
